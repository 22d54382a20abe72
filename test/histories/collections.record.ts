// Collections, each steered, continued or failed in another way. `npm run record-histories` plays those that
// have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { StoreError } from '../../domain/errors/errors.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { type Reached, recorder, RIGHT, type Scenario, send } from './recorder.ts';

const { rig, open, close, collection, scenario, script, start, dataset } = recorder();
beforeAll(open);
afterAll(close);

const gone = (retryable: boolean) => new StoreError('The disk is gone.', { reason: 'io-error', retryable });
const slow = (ms: number): Scenario => ({ answer: () => sleep(ms, RIGHT) });
/** Does something once, when the so many-th question is asked. */
const whenAsked = (nth: number, act: (handle: WorkflowHandle) => unknown, ms = 100): Scenario => {
  let asked = 0;
  return {
    answer: () => sleep(ms, RIGHT),
    at: ({ step }, handle) => (step === 'generate' && ++asked === nth ? act(handle) : undefined),
  };
};
const whenAt = (wanted: Reached['step'], act: (handle: WorkflowHandle) => unknown): Scenario => ({
  ...slow(50),
  at: ({ step, tries }, handle) => (step === wanted && tries === 1 ? act(handle) : undefined),
});
const run = (handle: WorkflowHandle) => handle.result().catch(() => {});
// What it plays.
collection(
  'collection-of-a-rollout-that-fails-with-its-boundary',
  { queries: 2 },
  {
    at({ step, query }) {
      if (step === 'finish' && query === 'q1') throw gone(false);
    },
  },
);

// How people steer it.
collection(
  'collection-stopped-in-paging',
  {},
  whenAt('page', (h) => send(h, 'stop')),
);
collection(
  'collection-cancelled-in-accepting',
  {},
  whenAt('accept', (h) => send(h, 'cancel')),
);
/** Pauses, and goes on when the pause has held for a while with nothing in flight. */
const pauseUntilIdle = async (handle: WorkflowHandle, then: Parameters<typeof send>[1]) => {
  await send(handle, 'pause');
  void (async () => {
    for (;;) {
      await sleep(200);
      const { state, total, inFlight } = (await handle.query('progress')) as CollectionProgress;
      if (state === 'paused' && total > 0 && inFlight === 0) break;
    }
    await sleep(1000);
    await send(handle, then);
  })();
};
collection(
  'collection-paused-and-stopped',
  { queries: 6, maxConcurrent: 2 },
  whenAsked(3, (h) => pauseUntilIdle(h, 'stop'), 500),
);

// Rollouts that others touch.
const child = (h: WorkflowHandle, query: string) => rig().client.workflow.getHandle(`${h.workflowId}/${query}/0`);
const touch = (act: (h: WorkflowHandle) => unknown) => whenAsked(1, (h) => void sleep(300).then(() => act(h)), 2000);
collection(
  'collection-rollout-terminated',
  { queries: 2 },
  touch((h) => child(h, 'q0').terminate()),
);
/** Started over a folder that an earlier collection of the same run left. */
const over = (name: string, first: Scenario, input: object, then?: (handle: WorkflowHandle) => unknown) =>
  scenario(name, first, async () => {
    const all = { run: name, dataset: dataset(name, 5), settings: { numTurns: 1 }, maxConcurrent: 2, ...input };
    await run(await start('collection', name, all));
    const handle = await start('collection', name, all);
    await then?.(handle);
    await run(handle);
    return handle;
  });
over('collection-again', {}, {});
/** The first collection is terminated while its rollouts wait; they go on when the second one has met them. */
const takenOver = (): Scenario => {
  let goOn = () => {};
  const met = new Promise<void>((resolve) => (goOn = resolve));
  return {
    answer: () => met.then(() => RIGHT),
    at({ step, query, tries }, handle) {
      if (step === 'generate' && query === 'q1') return sleep(500).then(() => handle.terminate());
      if (step === 'page' && tries === 2) void sleep(3000).then(goOn);
    },
  };
};

over(
  'collection-takes-over-and-fails',
  {
    ...takenOver(),
    at(reached, handle) {
      if (reached.step === 'settle') throw gone(false);
      if (reached.step !== 'page') return takenOver().at!(reached, handle);
    },
  },
  {},
);

// Continued as new, in the first, a middle and the last of its histories.
const PLACES = { first: () => 0, middle: (n: number) => Math.floor(n / 2), last: (n: number) => n - 1 };
const continued = (name: string, places: readonly (keyof typeof PLACES)[], input: object, played: Scenario) => {
  let runs: Promise<string[]> | undefined;
  const play = async () => {
    script(name, played);
    const all = { run: name, dataset: dataset(name, 24), settings: { numTurns: 1 }, maxHistoryEvents: 60, ...input };
    await run(await start('collection', name, { maxConcurrent: 4, ...all }));
    await sleep(1000);
    const found = [];
    for await (const w of rig().client.workflow.list({ query: `WorkflowId = "${name}"` })) found.push(w);
    if (found.length < 3) throw new Error(`${name} has ${found.length} histories only.`);
    return found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime()).map((w) => w.runId);
  };
  for (const place of places) {
    scenario(`${name}-${place}`, {}, async () => {
      const all = await (runs ??= play());
      return { workflowId: name, runId: all[PLACES[place](all.length)]! };
    });
  }
};
continued(
  'collection-continued-while-paused',
  ['middle'],
  { maxConcurrent: 8 },
  whenAsked(12, (h) => send(h, 'pause').then(() => void sleep(4000).then(() => send(h, 'resume'))), 1500),
);
