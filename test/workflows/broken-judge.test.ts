import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JudgeError } from '../../domain/errors/errors.ts';
import { onlyJudge } from '../support/only-judge.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
let judged = 0;
beforeAll(async () => {
  const judge = () => {
    judged++;
    throw new JudgeError('The judge does not start.', { reason: 'judge-process', retryable: true });
  };
  rig = await openRig({ answer: () => '\\boxed{4}' }, { environments: onlyJudge({ judge, close: async () => {} }) });
  await rig.startWorker();
});
afterAll(() => rig.close());

describe('a broken judge', () => {
  test('a turn whose judge stays broken is undecided after some tries, and never wrong', async () => {
    const result = await rig.client.workflow.execute('rollout', {
      workflowId: 'broken/q/0',
      taskQueue: 'everturn',
      args: [{ run: 'broken', out: rig.out, row: { query_id: 'q', question: '2 + 2?', answer: '4' } }],
    });
    expect(result).toMatchObject({
      outcome: 'undecided',
      reason: 'judge-process',
      success: [null],
      returns: [],
      turns: 1,
    });
    expect(judged).toBe(5);
    const store = openFileStore(rig.out, 'broken');
    const id = { run: 'broken', query: 'q', sample: 0, attempt: 1 };
    expect((await store.getVerdict(id, 1))!.record).toMatchObject({ verdict: 'undecided', reason: 'judge-process' });
    const breaches: string[] = [];
    await checkRun(store, (breach) => breaches.push(`${breach.path}: ${breach.problem}`));
    expect(breaches).toEqual([]);
  });
});
