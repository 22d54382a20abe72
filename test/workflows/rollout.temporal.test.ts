import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { GenerateRequest } from '../../inference/backend.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { recordHistory } from '../histories/history-file.ts';
import { openRig, type Rig } from '../support/rig.ts';

const failures = new Map<string, number>();
const failing = (key: string, times: number, retryable: boolean) => {
  const n = (failures.get(key) ?? 0) + 1;
  failures.set(key, n);
  if (n <= times)
    throw new ModelError('The server said no.', { reason: retryable ? 'server-busy' : 'model-not-found', retryable });
  return '\\boxed{4}';
};

const answers: Record<string, (turn: number, request: GenerateRequest) => string | Promise<string>> = {
  busy: (_, request) => failing(request.requestId, 2, true),
  refused: (turn, request) => (turn === 1 ? '\\boxed{5}' : failing(request.requestId, 99, false)),
  slow: async () => sleep(60_000, '\\boxed{4}', { ref: false }),
  long: () => `${'so '.repeat(100)}\\boxed{4}`,
  right: () => 'The answer is \\boxed{4}.',
  wrong: () => 'The answer is \\boxed{5}.',
  second: (turn) => (turn >= 2 ? '\\boxed{4}' : '\\boxed{5}'),
};
const turnOf = (request: GenerateRequest) => Number(request.requestId.split('/').at(-1));

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({
    answer: (request) => answers[request.requestId.split('/')[1]!.split('-')[0]!]!(turnOf(request), request),
    contextLength: 900,
  });
  await rig.startWorker();
});
afterAll(() => rig.close());

const start = (query: string, settings: RolloutInput['settings'] = {}, row: object = {}, startDelay?: '2s') =>
  rig.client.workflow.start('rollout', {
    workflowId: `r1/${query}/0`,
    taskQueue: 'everturn',
    ...(startDelay && { startDelay }),
    args: [
      { run: 'r1', out: rig.out, row: { query_id: query, question: 'What is 2 + 2?', answer: '4', ...row }, settings },
    ],
  });
const play = async (query: string, settings: RolloutInput['settings'] = {}, row: object = {}): Promise<RolloutResult> =>
  (await start(query, settings, row)).result();
const endOf = async (query: string) =>
  (await openFileStore(rig.out, 'r1').get('end', { run: 'r1', query, sample: 0, attempt: 1 }))?.record;
const untilTurn = async (query: string, phase: string) => {
  const handle = rig.client.workflow.getHandle(`r1/${query}/0`);
  while (((await handle.query('progress')) as { phase: string }).phase !== phase) await sleep(50);
  return handle;
};

describe('a rollout', () => {
  test('keeps contexts, feedback and hashes exactly as the algorithm says', async () => {
    const result = await play('second-exact', { numTurns: 2 });
    const store = openFileStore(rig.out, 'r1');
    const [first, second] = await Promise.all([1, 2].map((t) => store.get('turn', result.trajectory, t)));
    expect(first!.record.contextText).toBe('<start>user\nWhat is 2 + 2?<end>\n<start>assistant\n');
    expect(second!.record.contextText).toBe(
      "\n<start>user\nUnfortunately your answer is wrong. Let's try again.<end>\n<start>assistant\n",
    );
    expect(second!.record.previous).toBe(first!.hash);
    const end = (await store.get('end', result.trajectory))!.record;
    expect(end.turns).toEqual([first!.hash, second!.hash]);
    expect(end).toMatchObject({
      outcome: 'complete',
      turnRewards: [-1, 1],
      returns: [0, 1],
      success: [0, 1],
      failure: null,
    });
    const asked = rig.backend.requests.filter((r) => r.requestId.startsWith('r1/second-exact'));
    expect(asked[1]!.contextIds).toEqual([
      ...first!.record.contextIds,
      ...first!.record.outputIds,
      ...second!.record.contextIds,
    ]);
  });

  test('costs at most 9 events and 2.5 KB of history a turn', async () => {
    await play('wrong-short', { numTurns: 2 });
    await play('wrong-long', { numTurns: 12 });
    const [short, long] = await Promise.all(
      ['wrong-short', 'wrong-long'].map((q) => rig.client.workflow.getHandle(`r1/${q}/0`).describe()),
    );
    expect((long!.historyLength - short!.historyLength) / 10).toBeLessThanOrEqual(9);
    expect((long!.historySize! - short!.historySize!) / 10).toBeLessThanOrEqual(2500);
  });

  test('keeps its turns and tries again when the model is busy', async () => {
    const result = await play('busy-1', { numTurns: 1 });
    expect(result).toMatchObject({ outcome: 'complete', success: [1] });
    const turn = await openFileStore(rig.out, 'r1').get('turn', result.trajectory, 1);
    expect(turn!.record.attempt).toBe(3);
    await recordHistory(rig.client, 'rollout-right-at-once', { workflowId: 'r1/busy-1/0' });
  });

  test('fails with the named reason, without a reward, when the model refuses for good', async () => {
    const result = await play('refused-1', { numTurns: 3 });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'model-not-found', turns: 1, success: [0], returns: [] });
    expect(await endOf('refused-1')).toMatchObject({
      outcome: 'failed',
      failure: { boundary: 'model', reason: 'model-not-found', message: 'The server said no.', turn: 2 },
    });
  });

  test('ends as complete when the next turn does not fit into the context', async () => {
    const result = await play('long-1', { numTurns: 5 });
    expect(result).toMatchObject({ outcome: 'complete', stopReason: 'context-length' });
    expect(result.turns).toBeLessThan(5);
    expect(result.returns).toHaveLength(result.turns);
  });

  test('fails, naming the limit, when the prompt alone does not fit', async () => {
    const result = await play('right-huge', {}, { question: 'x'.repeat(1000) });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'prompt-too-long', turns: 0 });
  });

  test('ends as cancelled in the UI and in the store when its workflow is cancelled', async () => {
    const handle = await start('slow-cancel', { numTurns: 2 });
    await untilTurn('slow-cancel', 'turn 1');
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    await recordHistory(rig.client, 'rollout-cancelled', handle);
    expect(await endOf('slow-cancel')).toMatchObject({
      outcome: 'cancelled',
      stopReason: 'cancelled',
      turns: [],
      returns: [],
    });
  });

  test('refuses a row that is none, naming the field', async () => {
    await expect(play('right-bad', {}, { question: 7 })).rejects.toMatchObject({ cause: { type: 'bad-row' } });
  });

  test('is found by its run and query while it is played, also when it was started by itself', async () => {
    const handle = await start('slow-found', { numTurns: 1 });
    await untilTurn('slow-found', 'turn 1');
    const { typedSearchAttributes } = await handle.describe();
    const found = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    expect(found).toContainEqual(['EverturnRun', 'r1']);
    expect(found).toContainEqual(['EverturnQuery', 'slow-found']);
    await handle.terminate();
  });

  test('sets the search attributes of its end', async () => {
    await play('second-search', { numTurns: 2 });
    const { typedSearchAttributes } = await rig.client.workflow.getHandle('r1/second-search/0').describe();
    const found = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
    expect(found).toMatchObject({
      EverturnRun: 'r1',
      EverturnQuery: 'second-search',
      EverturnOutcome: 'complete',
      EverturnTurns: 2,
      EverturnReward: 0,
      EverturnVersion: 0,
    });
  });
});
