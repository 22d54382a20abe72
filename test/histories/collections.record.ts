// Collections: steered, taken over and continued as new. `npm run record-histories` plays those that have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { StoreError } from '../../domain/errors/errors.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { recorder, RIGHT, type Scenario, send } from './recorder.ts';

const { rig, open, close, scenario, start, dataset } = recorder();
beforeAll(open);
afterAll(close);

/** Does something once, when the so many-th question is asked. */
const whenAsked = (nth: number, act: (handle: WorkflowHandle) => unknown, ms: number): Scenario => {
  let asked = 0;
  return {
    answer: () => sleep(ms, RIGHT),
    at: ({ step }, handle) => (step === 'generate' && ++asked === nth ? act(handle) : undefined),
  };
};
const run = (handle: WorkflowHandle) => handle.result().catch(() => {});

/** It is stopped when the pause has held for a while with nothing in flight. */
async function pauseAndStop(handle: WorkflowHandle): Promise<void> {
  await send(handle, 'pause');
  void (async () => {
    for (;;) {
      await sleep(200);
      const { state, total, inFlight } = (await handle.query('progress')) as CollectionProgress;
      if (state === 'paused' && total > 0 && inFlight === 0) break;
    }
    await sleep(1000);
    await send(handle, 'stop');
  })();
}
const PAUSED = 'collection-paused-and-stopped';
scenario(PAUSED, whenAsked(3, pauseAndStop, 500), async () => {
  const all = { run: PAUSED, dataset: dataset(PAUSED, 6), settings: { numTurns: 1 }, maxConcurrent: 2 };
  const handle = await start('collection', PAUSED, all);
  await run(handle);
  return handle;
});

// The first collection is terminated while its rollouts wait; the second one, which meets them, fails.
const OVER = 'collection-takes-over-and-fails';
scenario(
  OVER,
  {
    answer: () => new Promise(() => {}),
    at({ step, query }, handle) {
      if (step === 'settle') throw new StoreError('The disk is gone.', { reason: 'io-error', retryable: false });
      if (step === 'generate' && query === 'q1') return sleep(500).then(() => handle.terminate());
    },
  },
  async () => {
    const all = { run: OVER, dataset: dataset(OVER, 5), settings: { numTurns: 1 }, maxConcurrent: 2 };
    await run(await start('collection', OVER, all));
    const handle = await start('collection', OVER, all);
    await run(handle);
    return handle;
  },
);

// The middle one of its histories.
const CONTINUED = 'collection-continued-while-paused';
scenario(
  `${CONTINUED}-middle`,
  whenAsked(12, (h) => send(h, 'pause').then(() => void sleep(4000).then(() => send(h, 'resume'))), 1500),
  async () => {
    const all = { dataset: dataset(CONTINUED, 24), settings: { numTurns: 1 }, maxHistoryEvents: 60, maxConcurrent: 8 };
    await run(await start('collection', `${CONTINUED}-middle`, { run: `${CONTINUED}-middle`, ...all }));
    await sleep(1000);
    const found = [];
    for await (const one of rig().client.workflow.list({ query: `WorkflowId = "${CONTINUED}-middle"` }))
      found.push(one);
    if (found.length < 3) throw new Error(`${CONTINUED} has ${found.length} histories only.`);
    return found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime())[Math.floor(found.length / 2)]!;
  },
);
