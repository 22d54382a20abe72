// The forger makes every hash agree; what is found is found by what the records mean. Runs that were honestly played,
// in many settings, are the other half: a check that cries at them proves nothing.

import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenizerOf, type FoundTokenizer } from '../../../cli/find/tokenizer.ts';
import { areal } from '../../../formats/exports/areal.ts';
import { checkRun } from '../../../records/check/check.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { rolloutFolder } from '../../../records/format/layout.ts';
import { sha256 } from '../../../records/format/text.ts';
import { forgeRun, type LooseRun, rehashed, unpack } from './forger.ts';
import { texts } from './forgeries.ts';
import { forgeries } from './run-forgeries.ts';
import { serverForgeries } from './server-forgeries.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-forged-'));
const played = join(root, 'played');
let tokenizer: FoundTokenizer['tokenizer'];
let hashes: FoundTokenizer['hashes'];
beforeAll(async () => {
  for (const run of ['always', 'success', 'cut']) unpack(`run-${run}.json`, join(played, run));
  ({ tokenizer, hashes } = await tokenizerOf(openFileStore(played, 'always'), root));
  if (!tokenizer) throw new Error('the shipped tokenizer is not here');
});
afterAll(() => rmSync(root, { recursive: true }));

function copy(run: string): string {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(played, run), join(out, run), { recursive: true });
  return out;
}

async function problemsOf(out: string, run: string, byTokenizer: boolean): Promise<string[]> {
  const problems: string[] = [];
  await checkRun(openFileStore(out, run), ({ path, problem }) => problems.push(`${path}: ${problem}`), {
    export: { exporter: areal },
    tokenizer: byTokenizer ? tokenizer : undefined,
    hashes: byTokenizer ? hashes : undefined,
    everturn: everturnVersion(),
  });
  return problems;
}

const firstTurn2 = (out: string, run: string) =>
  join(out, run, rolloutFolder({ query: 'arith-0001', sample: 0, attempt: 1 }), 'turn-002.json');

describe('a check', () => {
  test.each(['always', 'success', 'cut'])('finds nothing in a run that was played: %s', async (run) => {
    expect(await problemsOf(played, run, true)).toEqual([]);
    expect(await problemsOf(played, run, false)).toEqual([]);
  });

  test.each(['always', 'success', 'cut'])('finds nothing where the forger changes nothing: %s', async (run) => {
    const out = copy(run);
    await forgeRun(out, run, () => {}, false);
    expect(await problemsOf(out, run, true)).toEqual([]);
  });

  test('finds no fault in the name that SGLang takes from the weights that it loads', async () => {
    const out = copy('always');
    await forgeRun(out, 'always', ({ run, rollouts }) => {
      run.settings = { ...run.settings, model: 'sglang:http://a:1' };
      for (const { rollout, turns } of rollouts) {
        rollout.settings = { ...rollout.settings, model: 'sglang:http://a:1' };
        for (const one of turns)
          Object.assign(one, { server: 'http://a:1', model: one.turn > 1 ? '/w/step-9' : 'tiny' });
      }
    });
    expect((await problemsOf(out, 'always', false)).filter((problem) => /says the model/.test(problem))).toEqual([]);
  });

  for (const [name, { change, problem, byTokenizer }] of Object.entries({ ...forgeries, ...serverForgeries })) {
    test.concurrent(`finds ${name}`, async () => {
      const out = copy('always');
      await forgeRun(out, 'always', (whole: LooseRun) => void change(whole));
      // A tokenizer only adds to what is found.
      expect((await problemsOf(out, 'always', byTokenizer ?? false)).join('\n')).toMatch(problem);
    });
  }

  for (const [name, { change, problem }] of Object.entries(texts)) {
    test.concurrent(`finds ${name}`, async () => {
      const out = copy('always');
      rehashed(firstTurn2(out, 'always'), change, sha256);
      expect((await problemsOf(out, 'always', false)).join('\n')).toMatch(problem);
    });
  }

  test('names a turn that is a billion ahead, in bounded time', async () => {
    const out = copy('always');
    const folder = join(out, 'always', rolloutFolder({ query: 'arith-0001', sample: 0, attempt: 1 }));
    cpSync(join(folder, 'turn-003.json'), join(folder, 'turn-999999999.json'));
    expect((await problemsOf(out, 'always', false)).join('\n')).toMatch(/turn-999999999.json: stands alone: 4 turns/);
  });

  test('names the part of an answer that is missing while its turn is not there', async () => {
    const out = copy('always');
    const store = openFileStore(out, 'always');
    const id = { run: 'always', query: 'arith-0001', sample: 0, attempt: 1 };
    const { outputIds, logprobs, server, versions, startedAt, finishedAt } = (await store.getTurn(id, 1))!.record;
    const part = {
      outputIds,
      logprobs,
      server,
      versions,
      startedAt,
      finishedAt,
      finish: 'length',
      attempt: 1,
    } as const;
    const folder = join(store.folder, rolloutFolder(id));
    for (const name of readdirSync(folder)) if (name !== 'rollout.json') rmSync(join(folder, name));
    await store.putChunk(id, { ...part, turn: 1, chunk: 2 });
    expect((await problemsOf(out, 'always', true)).join('\n')).toMatch(/chunk-001.json: is missing, though part 2/);
  });
});
