// Rollouts that are cancelled before they have opened: the end of each is recorded all the same.

import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledFailure } from '@temporalio/common';
import { afterAll, beforeAll } from 'vitest';
import { GAME, type Reached, recorder, type Scenario, send } from './recorder.ts';

const recording = recorder();
const { open, close, rollout, scenario } = recording;
beforeAll(open);
afterAll(close);

/** Holds the step until the task that it runs in has reported itself: only then the workflow hears of the request. */
const held = (wanted: Reached['step'], what: 'cancel' | 'stop'): Scenario => ({
  async at({ step, tries }, handle) {
    if (step !== wanted || tries > 1) return;
    await send(handle, what);
    await sleep(15_000);
    if (wanted === 'begin') throw new CancelledFailure('Cancelled.');
  },
});

rollout(
  'rollout-environment-cancelled-while-it-begins',
  { settings: { environments: [GAME] } },
  held('begin', 'cancel'),
);

scenario('rollout-cancelled-before-its-first-task', {}, async () => {
  const name = 'rollout-cancelled-before-its-first-task';
  const row = { query_id: name, question: 'What is 2 + 2?', answer: '4' };
  const handle = await recording.rig().client.workflow.start('rollout', {
    workflowId: `recorded/${name}/0`,
    taskQueue: 'everturn',
    startDelay: '3 seconds',
    args: [{ out: recording.rig().out, run: 'recorded', row }],
  });
  await handle.cancel();
  await handle.result().catch(() => {});
  return handle;
});
