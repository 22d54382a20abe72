// A field that no record has, each setting out of its range, and each part of the model's identity.

import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type FoundTokenizer, tokenizerOf } from '../../../library/run-tokenizer.ts';
import type { ModelIdentity } from '../../../domain/weights/model-identity.ts';
import { tinyIdentity } from '../../../inference/index.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { checkRun } from '../../../records/check/check.ts';
import { shapeProblem } from '../../../records/check/checked.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { RunRecord } from '../../../records/format/run-record.ts';
import { unpack } from '../../support/packed-run.ts';
import { rewrite } from './damage.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();
const played = join(root, 'played');
let found: FoundTokenizer;
let identity: ModelIdentity;
let run: RunRecord;
beforeAll(async () => {
  unpack('run-always.json', join(played, 'always'));
  const store = openFileStore(played, 'always');
  found = await tokenizerOf(store, root);
  identity = await tinyIdentity();
  run = (await store.get('run'))!.record;
});

async function problemsWith(model: ModelIdentity): Promise<string[]> {
  rewrite('run.json', { model })(join(played, 'always'));
  const problems: string[] = [];
  const facts = { hashes: found.hashes, everturn: everturnVersion() };
  await checkRun(openFileStore(played, 'always'), ({ path, problem }) => problems.push(`${path}: ${problem}`), facts);
  return problems;
}

describe('a check of records', () => {
  test('finds a field that Everturn does not write, and one within another', () => {
    expect(shapeProblem('run', run)).toBeUndefined();
    const settings = { ...run.settings, note: 1 };
    for (const odd of [
      { ...run, note: 1 },
      { ...run, settings },
    ])
      expect(shapeProblem('run', odd)).toMatch(/has no right|has the field "note"/);
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
