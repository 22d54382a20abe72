// Collections, each steered, continued or failed in another way. `npm run record-histories` plays those that
// have no file yet.

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { ModelError, StoreError } from '../../domain/errors/errors.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { type Reached, recorder, RIGHT, type Scenario, send, WRONG } from './recorder.ts';

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
const failing = (wanted: Reached['step'], times: number, error: Error): Scenario => ({
  at({ step, tries }) {
    if (step === wanted && tries <= times) throw error;
  },
});
const run = (handle: WorkflowHandle) => handle.result().catch(() => {});
const tune = (maxConcurrent: number) => (handle: WorkflowHandle) =>
  void handle.executeUpdate('tune', { args: [{ maxConcurrent }] }).catch(() => {});

// What it plays.
collection('collection-whole', { queries: 4, samples: 2, maxConcurrent: 2 });
collection('collection-of-one', { queries: 1 });
collection('collection-of-none', { queries: 0 });
collection('collection-of-many-pages', { queries: 51, maxConcurrent: 100 });
collection('collection-limited-and-shuffled', { queries: 9, limit: 3, shuffleSeed: 1 });
scenario('collection-without-data-set', {}, async () => {
  const handle = await start('collection', 'collection-without-data-set', { run: 'collection-without-data-set' });
  await run(handle);
  return handle;
});
collection(
  'collection-of-rollouts-that-fail',
  { queries: 3 },
  {
    at({ step, query }) {
      if (step === 'generate' && query === 'q1') throw new ModelError('No such model.', { reason: 'model-not-found' });
      if (step === 'finish' && query === 'q2') throw gone(false);
    },
  },
);
collection(
  'collection-of-a-rollout-that-fails-with-its-boundary',
  { queries: 2 },
  {
    at({ step, query }) {
      if (step === 'finish' && query === 'q1') throw gone(false);
    },
  },
);
scenario('collection-with-bad-rows', {}, async () => {
  const path = dataset('collection-with-bad-rows', 3);
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n{"question": 7}\nno JSON\n`);
  const handle = await start('collection', 'collection-with-bad-rows', {
    run: 'collection-with-bad-rows',
    dataset: path,
  });
  await run(handle);
  return handle;
});

// Its own steps, failing.
collection('collection-failed-in-accepting', {}, failing('accept', Infinity, gone(false)));
collection('collection-failed-in-paging', {}, failing('page', Infinity, gone(false)));
collection('collection-failed-in-concluding', { queries: 1 }, failing('conclude', Infinity, gone(false)));
collection(
  'collection-retried-in-every-step',
  { queries: 2 },
  {
    at({ step, tries }) {
      if (['accept', 'page', 'conclude'].includes(step) && tries < 3) throw gone(true);
    },
  },
);
collection('collection-folder-away-for-a-minute', { queries: 1 }, failing('page', 7, gone(true)));

// How people steer it.
collection(
  'collection-stopped',
  { queries: 20, maxConcurrent: 2 },
  whenAsked(5, (h) => send(h, 'stop')),
);
collection(
  'collection-stopped-in-accepting',
  {},
  whenAt('accept', (h) => send(h, 'stop')),
);
collection(
  'collection-stopped-in-paging',
  {},
  whenAt('page', (h) => send(h, 'stop')),
);
collection(
  'collection-stopped-in-concluding',
  { queries: 1 },
  whenAt('conclude', (h) => send(h, 'stop')),
);
collection(
  'collection-stopped-twice',
  { maxConcurrent: 2 },
  whenAsked(2, (h) => send(h, 'stop').then(() => send(h, 'stop'))),
);
collection(
  'collection-stopped-and-cancelled',
  {},
  whenAsked(1, (h) => send(h, 'stop').then(() => send(h, 'cancel')), 1000),
);
collection(
  'collection-cancelled',
  { queries: 20, maxConcurrent: 3 },
  whenAsked(4, (h) => send(h, 'cancel')),
);
collection(
  'collection-cancelled-in-accepting',
  {},
  whenAt('accept', (h) => send(h, 'cancel')),
);
collection(
  'collection-cancelled-in-paging',
  {},
  whenAt('page', (h) => send(h, 'cancel')),
);
collection(
  'collection-cancelled-in-concluding',
  { queries: 1 },
  whenAt('conclude', (h) => send(h, 'cancel')),
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
  'collection-paused',
  { queries: 6, maxConcurrent: 2 },
  whenAsked(3, (h) => pauseUntilIdle(h, 'resume'), 500),
);
collection(
  'collection-paused-in-accepting',
  { queries: 3 },
  whenAt('accept', (h) => pauseUntilIdle(h, 'resume')),
);
collection(
  'collection-paused-and-stopped',
  { queries: 6, maxConcurrent: 2 },
  whenAsked(3, (h) => pauseUntilIdle(h, 'stop'), 500),
);
collection('collection-tuned-up', { queries: 9, maxConcurrent: 1 }, whenAsked(2, tune(5)));
collection('collection-tuned-down', { queries: 9, maxConcurrent: 5 }, whenAsked(2, tune(1)));
collection('collection-tuned-in-accepting', { queries: 3, maxConcurrent: 1 }, whenAt('accept', tune(3)));

// Rollouts that others touch.
const child = (h: WorkflowHandle, query: string) => rig().client.workflow.getHandle(`${h.workflowId}/${query}/0`);
const touch = (act: (h: WorkflowHandle) => unknown) => whenAsked(1, (h) => void sleep(300).then(() => act(h)), 2000);
collection(
  'collection-rollout-terminated',
  { queries: 2 },
  touch((h) => child(h, 'q0').terminate()),
);
collection(
  'collection-rollout-cancelled',
  { queries: 2 },
  touch((h) => child(h, 'q0').cancel()),
);
collection(
  'collection-rollout-stopped',
  { queries: 2 },
  touch((h) => send(child(h, 'q1'), 'stop')),
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
over(
  'collection-again-after-stop',
  whenAsked(3, (h) => send(h, 'stop')),
  {},
);
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
over('collection-takes-over', takenOver(), {});
over('collection-takes-over-and-cancels', takenOver(), {}, async (handle) => {
  while (((await handle.query('progress')) as CollectionProgress).inFlight < 2) await sleep(100);
  await sleep(500);
  await handle.cancel();
});

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
continued('collection-continued', ['first', 'middle', 'last'], {}, slow(100));
continued(
  'collection-continued-and-stopped',
  ['last'],
  {},
  whenAsked(15, (h) => send(h, 'stop'), 600),
);
continued(
  'collection-continued-and-cancelled',
  ['last'],
  {},
  whenAsked(15, (h) => send(h, 'cancel'), 600),
);
continued(
  'collection-continued-while-paused',
  ['middle', 'last'],
  { maxConcurrent: 8 },
  whenAsked(12, (h) => send(h, 'pause').then(() => void sleep(4000).then(() => send(h, 'resume'))), 1500),
);
// Of rollouts that were there before, one fails, one is cancelled and one has no record.
continued(
  'collection-continued-over-failures',
  ['middle'],
  {},
  {
    answer: () => sleep(700, WRONG),
    at({ step, query, tries }, handle) {
      const n = Number(query.slice(1));
      if (step !== 'generate' || tries > 1) return;
      if (n % 4 === 1) throw new ModelError('No such model.', { reason: 'model-not-found' });
      if (n % 4 === 2) void child(handle, query).cancel();
      if (n % 4 === 3) void child(handle, query).terminate();
    },
  },
);
continued('collection-told-over-histories', ['middle'], {}, slow(100));
