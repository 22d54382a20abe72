// What a real server says of the ids that it drew from, against the model itself in this process: the sets, the logprobs over them,
// in answers that are whole, paused and continued, and in a run by the command line.

import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { unpackedKept } from '../../../domain/rollout/kept-sets.ts';
import { mustServeLogprobs } from '../../../domain/rollout/logprob-meaning.ts';
import type { Sampling } from '../../../domain/rollout/sampling.ts';
import type { Reply } from '../../../inference/backend.ts';
import { openForcedPass } from '../../../inference/decode/forced-pass.ts';
import { uniformAt } from '../../../inference/decode/philox.ts';
import { loadModel, type LoadedModel } from '../../../inference/embedded/load.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { openEverturn } from '../../support/everturn.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { underWay } from './one-server-tests.ts';
import type { Place } from './place.ts';

const DATA = join(import.meta.dirname, '../../../examples/arithmetic.jsonl');
const NO_CUT = { temperature: 1, topP: 1, topK: 1e8 };
const CUTS: readonly Sampling[] = [
  { ...NO_CUT, topP: 0.8 },
  { ...NO_CUT, topK: 20 },
  { ...NO_CUT, minP: 0.05, temperature: 0.7 },
];
/** Contexts that the model does not know leave it unsure. */
const unsure = (seed: number) => Array.from({ length: 40 }, (_, i) => 3 + Math.floor(uniformAt(seed, i) * 400));

export function keptTests({ first, second, open, ask, say }: Place): void {
  let model: LoadedModel['model'];
  beforeAll(async () => {
    const source = { kind: 'folder', path: TINY_FOLDER, name: 'tiny' } as const;
    model = (await loadModel({ type: 'load', source, tokenizerSize: 0 })).model;
  });

  /** The ratios of recomputed probabilities to recorded ones, over the sets and over the whole vocabulary. */
  async function ratios(contextIds: readonly number[], reply: Recorded, temperature: number) {
    const found = { kept: [] as number[], whole: [] as number[] };
    let past = null;
    for (const [k, id] of reply.outputIds.entries()) {
      const ids = k === 0 ? [...contextIds] : [reply.outputIds[k - 1]!];
      const { logits, kv } = await model.step({ rows: 1, width: ids.length, ids, pads: [0], past });
      past = kv;
      const z = (one: number) => logits[one]! / temperature;
      const over = (some: Iterable<number>) => Math.log([...some].reduce((sum, one) => sum + Math.exp(z(one)), 0));
      const ratioOver = (some: Iterable<number>) => Math.exp(z(id) - over(some) - reply.logprobs[k]!);
      found.whole.push(ratioOver(Array(model.vocabSize).keys()));
      found.kept.push(ratioOver(reply.kept[k]!));
    }
    return found;
  }

  test('the sets that it says are those that the model keeps, and ratios over them are 1', async () => {
    const pass = openForcedPass(model);
    for (const server of [first(), second()]) {
      const backend = await open(server);
      expect(backend.facts.givesKept).toBe(true);
      for (const sampling of CUTS) {
        mustServeLogprobs(backend.facts, { ...sampling, logprobs: 'policy' });
        const all = { kept: [] as number[], whole: [] as number[], ids: 0 };
        for (let seed = 0; seed < 8; seed++) {
          const contextIds = unsure(seed);
          const reply = recorded(
            await ask('', { contextIds, sampling, seed, maxNewTokens: 60, stopTokenIds: [] }, backend),
          );
          expect(await pass({ contextIds, outputIds: reply.outputIds, sets: reply.kept, sampling })).toBeNull();
          const { kept, whole } = await ratios(contextIds, reply, sampling.temperature);
          all.kept.push(...kept);
          all.whole.push(...whole);
          all.ids += reply.kept.reduce((sum, set) => sum + set!.length, 0);
        }
        const worst = Math.max(...all.kept.map((ratio) => Math.abs(ratio - 1)));
        const mean = all.whole.reduce((sum, one) => sum + one, 0) / all.whole.length;
        say(
          `kept sets, ${JSON.stringify(sampling)}: ${all.kept.length} tokens of ${(all.ids / all.kept.length).toFixed(1)} ids; ` +
            `ratios over them 1 to ${worst.toExponential(1)}, over the vocabulary ${mean.toFixed(3)} on average`,
        );
        expect(worst).toBeLessThan(1e-3);
        expect(mean).toBeLessThan(0.98);
      }
      await backend.close();
    }
  });

  test.each(['abort', 'retract', 'in_place'])(
    'an answer that is paused (%s) and goes on has a set for each token',
    async (mode) => {
      const sampling = CUTS[0]!;
      const contextIds = unsure(9);
      const asked = ask('', { contextIds, sampling, maxNewTokens: 1900, stopTokenIds: [] });
      await underWay();
      await first().call('POST', '/pause_generation', { mode });
      if (mode !== 'abort') await underWay();
      await first().call('POST', '/continue_generation', {});
      const whole = await asked;
      expect(whole.finish).toBe(mode === 'abort' ? 'abort' : 'length');
      const reply = recorded(whole);
      const { kept } = await ratios(contextIds, reply, 1);
      const worst = Math.max(...kept.map((ratio) => Math.abs(ratio - 1)));
      say(`kept sets, paused (${mode}): ${kept.length} tokens; ratios 1 to ${worst.toExponential(1)}`);
      expect(worst).toBeLessThan(1e-3);
    },
  );

  test('a run with truncated sampling records them by chunks, and its rows hand them on', async () => {
    const everturn = openEverturn();
    onTestFinished(() => everturn.close());
    const size = ['--num-turns', '3', '--max-new-tokens', '64', '--limit', '12', '--new-tokens-per-chunk', '16'];
    const cut = ['--model', `sglang:${first().url}`, '--top-p', '0.8', '--temperature', '1.5'];
    const played = await everturn.run('run', DATA, '--name', 'cut', ...size, ...cut);
    expect(played.code, played.stderr).toBe(0);
    const checked = await everturn.run('check', 'cut', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    const found = { tokens: 0, worst: 0 };
    for await (const { turns } of readTrajectories(openFileStore(join(everturn.folder, 'runs'), 'cut'))) {
      const context: number[] = [];
      for (const { record } of turns) {
        context.push(...record.contextIds);
        expect(record.logprobsFound).toBe('policy');
        const { kept } = await ratios(context, { ...record, kept: unpackedKept(record.kept!)! }, 1.5);
        context.push(...record.outputIds);
        found.tokens += kept.length;
        found.worst = Math.max(found.worst, ...kept.map((ratio) => Math.abs(ratio - 1)));
      }
    }
    say(`kept sets, a run: ${found.tokens} tokens; ratios 1 to ${found.worst.toExponential(1)}`);
    expect(found.worst).toBeLessThan(1e-3);
    const rows = await everturn.run('export', 'cut', '--format', 'rows');
    expect(rows.code, rows.stderr).toBe(0);
    for (const line of rows.stdout.trim().split('\n')) {
      const row = JSON.parse(line) as { kept_ids: unknown[]; response_ids: number[] };
      expect(row.kept_ids).toHaveLength(row.response_ids.length);
    }
  });
}

interface Recorded extends Pick<Reply, 'outputIds' | 'logprobs'> {
  readonly kept: NonNullable<Reply['kept']>;
}

/** As a run that wants the policy's logprobs records it. */
function recorded({ outputIds, kept, keptLogprobs }: Reply): Recorded {
  return { outputIds, kept: kept!, logprobs: keptLogprobs! };
}
