// The fields of every record, each setting out of its range, and each part of the model's identity.

import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type FoundTokenizer, tokenizerOf } from '../../../cli/find/tokenizer.ts';
import type { ModelIdentity } from '../../../domain/weights/model-identity.ts';
import { tinyIdentity } from '../../../inference/index.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { checkRun } from '../../../records/check/check.ts';
import { shapeProblem } from '../../../records/check/shape.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { RunRecord } from '../../../records/format/run-record.ts';
import type { RecordKind } from '../../../records/format/kinds.ts';
import { unpack } from '../../support/packed-run.ts';
import { rewrite } from './damage.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();
const played = join(root, 'played');
const ID = { run: 'always', query: 'arith-0001', sample: 0, attempt: 1 };
let found: FoundTokenizer;
let identity: ModelIdentity;
/** Of each kind of record, one of the run. */
let records: (readonly [RecordKind, object])[];
let run: RunRecord;
beforeAll(async () => {
  unpack('run-always.json', join(played, 'always'));
  const store = openFileStore(played, 'always');
  found = await tokenizerOf(store, root);
  identity = await tinyIdentity();
  run = (await store.getRun())!.record;
  const turn = (await store.getTurn(ID, 2))!.record;
  const { finish, outputIds, logprobs, versions, server, attempt, startedAt, finishedAt } = turn;
  const chunk = { turn: 2, chunk: 1, finish, outputIds, logprobs, versions, server, attempt, startedAt, finishedAt };
  const failure = { boundary: 'model', reason: 'x', message: 'x', turn: 1 };
  records = [
    ['run', { ...run, model: { ...identity, canary: { version: null, values: { '1:2': -1 } } } }],
    ['rollout', (await store.getRollout(ID))!.record],
    ['turn', { ...turn, textLogprobs: [{ token: 'a', logprob: -1 }] }],
    ['chunk', chunk],
    ['verdict', (await store.getVerdict(ID, 2))!.record],
    ['end', { ...(await store.getEnd(ID))!.record, failure }],
    ['result', (await store.getResult())!.record],
  ];
});

async function problemsWith(model: ModelIdentity): Promise<string[]> {
  rewrite('run.json', { model })(join(played, 'always'));
  const problems: string[] = [];
  const facts = { hashes: found.hashes, everturn: everturnVersion() };
  await checkRun(openFileStore(played, 'always'), ({ path, problem }) => problems.push(`${path}: ${problem}`), facts);
  return problems;
}

/** Every object within a value, by its path. */
function* objectsIn(value: unknown, path: string): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}.${key}`);
}

/** Maps whose keys are names of servers, reasons, tests. */
const OPEN = /serverLimits$|serverWeights$|reasons$|verdicts|boundaries$|origins$|values$|servers$|failures/;

describe('a check of records', () => {
  test('finds a field that Everturn does not write, in every object of every kind of record', () => {
    let places = 0;
    for (const [kind, part] of records) {
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
    expect(await problemsWith(identity)).toEqual([]);
    for (const trait of ['tokenizer', 'template', 'weights'] as const)
      expect(await problemsWith({ ...identity, [trait]: '0'.repeat(64) }), trait).toEqual([
        expect.stringContaining(`run.json: has the hash 000000000000 of its model's ${trait}`),
      ]);
  });
});
