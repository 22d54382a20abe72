// Forgeries of the calls of tools: the named ones agree with themselves, hash by hash; and each value of each record that
// calls leave is changed once, alone. A run that was honestly played is the other half.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { areal } from '../../../formats/exports/areal.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { checkRun, type CheckOptions } from '../../../records/check/check.ts';
import { openFacts } from '../../../records/check/facts.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { rolloutFolder } from '../../../records/format/layout.ts';
import { sha256 } from '../../../records/format/text.ts';
import { createTools } from '../../../environments/tools/index.ts';
import { scriptedBackend } from '../../support/scripted-model.ts';
import { withTools } from '../../support/tool-chat.ts';
import { callForgeries } from './call-forgeries.ts';
import { forgeRun, rehashed, unpack } from './forger.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-calls-'));
const played = join(root, 'played');
beforeAll(() => unpack('run-tools.json', join(played, 'tools')));
afterAll(() => rmSync(root, { recursive: true }));

const { tokenizer } = withTools(scriptedBackend({ answer: () => '' }));
const FACTS: CheckOptions = {
  calls: createTools({}),
  everturn: everturnVersion(),
  tokenizer: { ...tokenizer, name: 'the tokenizer of the test', stopTokenIds: [256] },
};

function copy(): string {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(played, 'tools'), join(out, 'tools'), { recursive: true });
  return out;
}

async function problemsOf(out: string, more: CheckOptions = {}): Promise<string[]> {
  const problems: string[] = [];
  const note = ({ path, problem }: { path: string; problem: string }) => void problems.push(`${path}: ${problem}`);
  await checkRun(openFileStore(out, 'tools'), note, { ...FACTS, ...more });
  return problems;
}

const folderOf = (query: string) => rolloutFolder({ query, sample: 0, attempt: 1 });

describe('a check of a run with tools', () => {
  test('finds nothing in a run that was played, nor where the forger changes nothing', async () => {
    expect(await problemsOf(played)).toEqual([]);
    expect(await problemsOf(played, { tokenizer: undefined, calls: undefined })).toEqual([]);
    const out = copy();
    await forgeRun(out, 'tools', () => {}, false);
    expect(await problemsOf(out)).toEqual([]);
  });

  test('finds nothing where calls that ran at the same time took longer in all than the turn lasted', async () => {
    const out = copy();
    await forgeRun(out, 'tools', ({ rollouts }) => {
      const one = rollouts.find(({ rollout }) => rollout.query.queryId === 'calls')!;
      const later = 60_000;
      for (const call of one.calls) if (call.turn === 1) call.finishedAt = call.startedAt + later;
      for (const each of one.turns.slice(1)) {
        each.startedAt += later;
        each.finishedAt += later;
      }
      for (const call of one.calls)
        if (call.turn > 1) {
          call.startedAt += later;
          call.finishedAt += later;
        }
      one.end.finishedAt += later;
      const [verdict] = one.verdicts;
      verdict!.calls = verdict!.calls!.map((call) => ({ ...call, ms: later }));
      verdict!.tookMs = 2 * later;
    });
    expect(await problemsOf(out)).toEqual([]);
  });

  test.each(Object.entries(callForgeries))('finds %s', async (_, { change, file, problem }) => {
    const out = copy();
    await forgeRun(out, 'tools', change);
    const found = (await problemsOf(out)).filter((line) => line.includes(`/${file}: `));
    expect(found.join('\n')).toMatch(problem);
  });

  test('finds each value of each record that is changed alone', async () => {
    let harms = 0;
    const missed: string[] = [];
    const out = copy();
    const store = openFileStore(out, 'tools');
    const prove = openFacts(store, (await store.getRun())!.record, { ...FACTS, tokenizer: undefined });
    for (const query of ['calls', 'order', 'bad']) {
      const folder = join(out, 'tools', folderOf(query));
      for (const name of readdirSync(folder).filter((each) => /^(call|intent)-|^verdict-00[123]/.test(each))) {
        const [place] = /-\d{3}/.exec(name)!;
        const file = join(folder, name);
        const text = readFileSync(file, 'utf8');
        const { format, of_rollout: owner, sha256: _, ...record } = JSON.parse(text) as Record<string, unknown>;
        if (name.startsWith('verdict-') && record['verdict'] !== 'called') continue;
        for (const path of pathsIn(record)) {
          for (const [harm, changed] of changesAt(record, path)) {
            const forged = JSON.stringify({ format, of_rollout: owner, ...changed });
            rehashed(file, () => forged.slice(0, -1), sha256);
            harms++;
            // The proof of one rollout alone, which a check of the run has for each.
            const { breaches } = await prove({ run: 'tools', query, sample: 0, attempt: 1 });
            const found = breaches.map((breach) => `${breach.path}: ${breach.problem}`);
            if (!found.some((line) => line.includes(`${place}.`)))
              missed.push(`${query}/${name}: ${path.join('.')} ${harm}: ${found.join('; ')}`);
          }
        }
        writeFileSync(file, text);
      }
    }
    expect(missed).toEqual([]);
    expect(harms).toBeGreaterThan(300);
  });

  test('finds the code of a tool changed', async () => {
    const out = copy();
    const [code] = readdirSync(join(out, 'tools/code'));
    writeFileSync(join(out, 'tools/code', code!), 'exports.tools = [];');
    expect((await problemsOf(out)).join('\n')).toMatch(/code\/[0-9a-f]{64}\.cjs: is changed/);
  });

  test('finds tokens of a result that an export would train on', async () => {
    const file = join(root, 'export.jsonl');
    await exportRun(openFileStore(played, 'tools'), areal, file, {});
    expect(await problemsOf(played, { export: { exporter: areal, file } })).toEqual([]);
    const lines = readFileSync(file, 'utf8').split('\n');
    const sample = JSON.parse(lines[0]!) as { data: { prompt_mask: boolean[] } };
    const { prompt_mask: mask } = sample.data;
    // The first token behind the first answer: it is of a result.
    mask[mask.indexOf(true, mask.indexOf(false))] = false;
    writeFileSync(file, [JSON.stringify(sample), ...lines.slice(1)].join('\n'));
    const found = await problemsOf(played, { export: { exporter: areal, file } });
    expect(found.join('\n')).toMatch(/line 1 is another/);
  });
});

type Path = readonly (string | number)[];

/** The place of each value, lists and objects included. */
function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    pathsIn(one, [...at, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? [at, ...inner] : inner;
}

/** The record with the value there changed, in every way that its type allows. */
function changesAt(record: object, path: Path): [string, object][] {
  const value = path.reduce<unknown>((one, key) => (one as Record<string, unknown>)[key], record);
  return others(value).map(([harm, changed]) => [harm, withAt(record, path, changed) as object]);
}

function withAt(value: unknown, [key, ...rest]: Path, changed: unknown): unknown {
  if (key === undefined) return changed;
  if (Array.isArray(value)) return value.map((one, i) => (i === key ? withAt(one, rest, changed) : one));
  const one = value as Record<string, unknown>;
  return { ...one, [key]: withAt(one[key], rest, changed) };
}

function others(value: unknown): [string, unknown][] {
  if (typeof value === 'string')
    return [
      ['another text', /^[0-9a-f]{64}$/.test(value) ? 'f'.repeat(64) : `${value}x`],
      ['no text', ''],
    ];
  if (typeof value === 'number')
    return [
      ['one more', value + 1],
      ['much more', value + 1_000_000],
    ];
  if (value === null) return [['a text for null', 'x']];
  if (Array.isArray(value))
    return [
      ['without its last', value.slice(0, -1)],
      ['its last twice', [...value, value.at(-1)]],
      ...(value.length > 1 ? ([['turned round', value.toReversed()]] as [string, unknown][]) : []),
    ];
  return [['another value', !value]];
}
