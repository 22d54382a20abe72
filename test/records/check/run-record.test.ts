// The fields of every record, each setting out of its range, and each part of the model's identity.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FoundTokenizer, tokenizerOf } from '../../../cli/find/tokenizer.ts';
import type { ModelIdentity } from '../../../domain/weights/model-identity.ts';
import { tinyIdentity } from '../../../inference/index.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { checkRun } from '../../../records/check/check.ts';
import { shapeProblem } from '../../../records/check/shape.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { RunRecord } from '../../../records/format/run-record.ts';
import type { RecordKind } from '../../../records/format/kinds.ts';
import { forgeRun, type LooseRun, unpack } from './forger.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-forged-records-'));
const played = join(root, 'played');
let run: RunRecord;
let found: FoundTokenizer;
let identity: ModelIdentity;
let whole: LooseRun;
beforeAll(async () => {
  unpack('run-always.json', join(played, 'always'));
  const store = openFileStore(played, 'always');
  run = (await store.getRun())!.record;
  found = await tokenizerOf(store, root);
  identity = await tinyIdentity();
  await forgeRun(played, 'always', (read) => void (whole = structuredClone(read)), false);
});
afterAll(() => rmSync(root, { recursive: true }));

async function problemsAfter(change: (whole: LooseRun) => void): Promise<string[]> {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(played, 'always'), join(out, 'always'), { recursive: true });
  await forgeRun(out, 'always', change);
  const problems: string[] = [];
  const facts = { hashes: found.hashes, everturn: everturnVersion() };
  await checkRun(openFileStore(out, 'always'), ({ path, problem }) => problems.push(`${path}: ${problem}`), facts);
  rmSync(out, { recursive: true });
  return problems;
}

/** Every object within a value, by its path. */
function* objectsIn(value: unknown, path: string): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}.${key}`);
}

/** Of each kind of record, one of the run. */
const records = (): [RecordKind, object][] => {
  const [one] = whole.rollouts;
  const { turn, finish, outputIds, logprobs, versions, server, attempt, startedAt, finishedAt } = one!.turns[1]!;
  const chunk = { turn, chunk: 1, finish, outputIds, logprobs, versions, server, attempt, startedAt, finishedAt };
  return [
    ['run', { ...whole.run, model: { ...identity, canary: { version: null, values: { '1:2': -1 } } } }],
    ['rollout', one!.rollout],
    ['turn', { ...one!.turns[1]!, textLogprobs: [{ token: 'a', logprob: -1 }] }],
    ['chunk', chunk],
    ['verdict', one!.verdicts[1]!],
    ['end', { ...one!.end, failure: { boundary: 'model', reason: 'x', message: 'x', turn: 1 } }],
    ['result', whole.result!],
  ];
};
/** Maps whose keys are names of servers, reasons, tests. */
const OPEN = /serverLimits$|serverWeights$|reasons$|verdicts|boundaries$|origins$|values$|servers$|failures/;

describe('a check of records', () => {
  test('finds a field that Everturn does not write, in every object of every kind of record', () => {
    let places = 0;
    for (const [kind, part] of records()) {
      expect(shapeProblem(kind, part), kind).toBeUndefined();
      for (const [path] of objectsIn(part, kind)) {
        if (OPEN.test(path)) continue;
        places++;
        const copy = structuredClone(part);
        for (const [at, object] of objectsIn(copy, kind)) if (at === path) object['note'] = 1;
        expect(shapeProblem(kind, copy), path).toMatch(/has no right|has the field "note"/);
      }
    }
    expect(places).toBeGreaterThan(20);
  });

  test('finds settings that no rollout can have', () => {
    const impossible: object[] = [
      { temperature: -1 },
      { topP: 0 },
      { topP: 2 },
      { topK: 0 },
      { numTurns: 0 },
      { numTurns: 1.5 },
      { maxNewTokens: 0 },
      { stop: 'never' },
      { logprobs: 'all' },
      { rewardScaling: '1' },
      { seed: -1 },
    ];
    for (const changes of impossible)
      expect(shapeProblem('run', { ...run, settings: { ...run.settings, ...changes } })).toMatch(
        /has no right \w+.*in settings/,
      );
  });

  test('finds a model of other files than those here', async () => {
    expect(await problemsAfter((read) => (read.run.model = identity))).toEqual([]);
    for (const trait of ['tokenizer', 'template', 'weights'] as const) {
      const problems = await problemsAfter((read) => (read.run.model = { ...identity, [trait]: '0'.repeat(64) }));
      expect(problems, trait).toEqual([
        expect.stringContaining(`run.json: has the hash 000000000000 of its model's ${trait}`),
      ]);
    }
  });
});
