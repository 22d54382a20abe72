// The rollouts of a run that is being played, as a program reads them: each as it ends, once, up to the run's end; and the reason
// where the run is ended from outside.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openRun } from '../../library/index.ts';
import { useEnvironment } from '../support/process-environment.ts';
import { openRig, type Rig } from '../support/rig.ts';

const MANY = 6;
let rig: Rig;
let restore = () => {};
let openGate = () => {};
const gate = new Promise<void>((resolve) => (openGate = resolve));

beforeAll(async () => {
  rig = await openRig({
    async answer({ requestId }) {
      const [run, query] = requestId.split('/');
      if (run === 'ended' || !['q0', 'q1'].includes(query!)) await gate;
      return '\\boxed{4}';
    },
  });
  restore = useEnvironment({ TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: rig.namespace });
});
afterAll(async () => {
  restore();
  await rig.close();
});

async function played(run: string) {
  const dataset = join(rig.out, `${run}.jsonl`);
  const rows = Array.from({ length: MANY }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const handle = await rig.client.workflow.start('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    args: [{ run, out: rig.out, dataset, maxConcurrent: 3, settings: { numTurns: 1 } }],
    memo: { out: rig.out },
  });
  const opened = () => openRun(run, { out: rig.out });
  // The run has a folder once its rows are accepted.
  await expect
    .poll(() =>
      opened().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  return { handle, run: await opened() };
}

describe('the rollouts of a run that is being played', () => {
  test('come one by one while others are in flight, and end with the run', async () => {
    await rig.startWorker();
    const { run } = await played('watched');
    const seen: string[] = [];
    const reading = (async () => {
      for await (const rollout of run.rollouts()) {
        seen.push(rollout.query);
        expect(rollout).toMatchObject({ outcome: 'complete', success: [1] });
        expect((await rollout.texts()).messages.at(-2)).toMatchObject({ role: 'assistant', content: '\\boxed{4}' });
      }
    })();
    await expect.poll(() => seen.toSorted()).toEqual(['q0', 'q1']);
    openGate();
    await reading;
    expect(seen.toSorted()).toEqual(Array.from({ length: MANY }, (_, i) => `q${i}`));
    expect(await run.result()).toMatchObject({ state: 'ended', total: MANY, done: MANY });
  });

  test('end with an error that says so where the run was terminated, or with the reason of a signal', async () => {
    const { handle, run } = await played('ended');
    const stop = new AbortController();
    const stopped = run.result({ signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    const reading = (async () => {
      for await (const _ of run.rollouts());
    })();
    await handle.terminate();
    await expect(reading).rejects.toMatchObject({ boundary: 'temporal', reason: 'workflow-terminated' });
  });
});
