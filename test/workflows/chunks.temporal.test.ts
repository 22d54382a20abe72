import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { openRig, type Rig } from '../support/rig.ts';
import type { Script } from '../support/scripted-model.ts';

const ANSWER = 'It is \\boxed{4}.';
let rig: Rig;
let failAt = Infinity;
let versions: ReturnType<NonNullable<Script['version']>>[] = [];
beforeAll(async () => {
  rig = await openRig({
    answer(_, context) {
      const said = context.slice(context.lastIndexOf('<start>assistant\n') + '<start>assistant\n'.length);
      if (said.length === failAt) {
        failAt = Infinity;
        throw new ModelError('Gone.', { reason: 'server-error', retryable: true });
      }
      return ANSWER.slice(said.length);
    },
    version: () => versions.shift() ?? 0,
  });
  await rig.startWorker();
});
afterAll(() => rig.close());

const play = (query: string, newTokensPerChunk: number | null) =>
  rig.client.workflow.execute('rollout', {
    workflowId: `chunks/${query}/0`,
    taskQueue: 'everturn',
    args: [
      {
        run: 'chunks',
        out: rig.out,
        row: { query_id: query, question: '2 + 2?', answer: '4' },
        settings: { numTurns: 2, newTokensPerChunk, seed: 1 },
      },
    ],
  });
const turnOf = async (query: string, turn: number) =>
  (await openFileStore(rig.out, 'chunks').get('turn', { run: 'chunks', query, sample: 0, attempt: 1 }, turn))!.record;
const asked = (query: string) => rig.backend.requests.filter((r) => r.requestId.startsWith(`chunks/${query}/`));

describe('an answer in chunks', () => {
  test('is the answer in one, and leaves no chunk behind', async () => {
    await play('whole', null);
    await play('parts', 3);
    for (const turn of [1, 2]) {
      const [whole, parts] = [await turnOf('whole', turn), await turnOf('parts', turn)];
      expect(parts.outputIds).toEqual(whole.outputIds);
      expect(parts.logprobs).toEqual(whole.logprobs);
      expect(parts.versions).toEqual([{ version: 0, start: 0, end: whole.outputIds.length }]);
      expect(parts.finish).toBe('stop');
    }
    expect(asked('whole')).toHaveLength(2);
    expect(asked('parts')).toHaveLength(2 * Math.ceil((ANSWER.length + 1) / 3));
    const files = readdirSync(join(rig.out, 'chunks', 'rollouts'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((f) => f.includes('chunk-'))).toEqual([]);
  });

  test('goes on after the last kept chunk when the model fails in its middle', async () => {
    failAt = 8;
    await play('torn', 4);
    const { outputIds, attempt } = await turnOf('torn', 1);
    expect(outputIds).toEqual((await turnOf('whole', 1)).outputIds);
    expect(attempt).toBe(2);
    const lengths = asked('torn').map((r) => r.contextIds.length - asked('torn')[0]!.contextIds.length);
    // The two chunks before the failure are not asked for again.
    expect(lengths.slice(0, 6)).toEqual([0, 4, 8, 8, 12, 16]);
  });

  test('asks again for a part that comes from older weights than those before it', async () => {
    versions = [3, 2, ...Array<number>(99).fill(3)];
    await play('older', 4);
    versions = [];
    const { outputIds, versions: found, attempt } = await turnOf('older', 1);
    expect(found).toEqual([{ version: 3, start: 0, end: outputIds.length }]);
    expect(attempt).toBe(2);
  });

  test('goes on with weights that the run declared, though those before have the label of a later line', async () => {
    const [left, declared] = [
      { version: 2, versionLabel: 'line1:v2' },
      { version: 29, versionLabel: 'step-29' },
    ];
    const ledger = openWeightsLedger(join(rig.out, 'chunks'));
    const update = { number: 1, version: 29, label: 'step-29', folder: '/ckpt/29', rewind: false, line: 0 };
    await ledger.declare({ ...update, contentHash: null, workflowId: 'chunks/weights-29', declaredAt: 1 });
    versions = [left, ...Array<typeof declared>(99).fill(declared)];
    await play('left', 4);
    versions = [];
    const { versions: found, attempt } = await turnOf('left', 1);
    expect(found.map(({ versionLabel }) => versionLabel)).toEqual(['line1:v2', 'step-29']);
    expect(attempt).toBe(1);
    const breaches: unknown[] = [];
    await checkRun(openFileStore(rig.out, 'chunks'), ({ path, problem }) => breaches.push([path, problem]));
    expect(breaches.filter((breach) => String(breach).includes('go back'))).toEqual([]);
  });
});
