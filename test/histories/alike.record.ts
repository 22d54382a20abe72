// What a replay may see otherwise decides nothing: collections and feeds that continue as new by what they did, a
// page that lasts through several workflow tasks, and leases that end while another one waits.

import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import type { CollectionInput } from '../../domain/run/messages.ts';
import type { ModelServer } from '../support/model-server.ts';
import { feedRecorder, step, train } from './feed-recorder.ts';
import { recorder, RIGHT, type Scenario } from './recorder.ts';

const recording = recorder();
const { open, close, scenario, script, start, dataset } = recording;
const servers: ModelServer[] = [];
const feed = feedRecorder(recording, servers);
beforeAll(open);
afterAll(close);

/** Twice as long as a workflow task may last. */
const slowPages: Scenario = {
  answer: () => sleep(100, RIGHT),
  at: ({ step: at }) => (at === 'page' ? sleep(21_000) : undefined),
};

/** The first of its executions. */
const alike = (name: string, queries: number, more: Partial<CollectionInput>) =>
  scenario(name, slowPages, async () => {
    script(name, slowPages);
    const handle = await start('collection', name, {
      ...{ run: name, dataset: dataset(name, queries), settings: { numTurns: 1 } },
      ...more,
    });
    await handle.result();
    return { workflowId: name, runId: (handle as WorkflowHandleWithFirstExecutionRunId).firstExecutionRunId };
  });
// The length is reached while the page lasts, and the steps are not.
alike('collection-alike-first', 9, { maxConcurrent: 4, maxHistoryEvents: 15 });

feed('feed-alike-leases-that-end', { queries: 6 }, async (trainer) => {
  const late = await trainer.lease({ seconds: 0.3 });
  await sleep(1000);
  await trainer.ask('acknowledge', { lease: late.id, version: 1 });
  await trainer.ask('version', { version: 1 });
  const held = await trainer.lease({ seconds: 600, request: 'held' });
  await trainer.lease({ seconds: 1, request: 'held' });
  await trainer.lease();
  // Its groups are needed when it ends.
  const waits = trainer.lease({ groups: 2, least: 2 });
  await Promise.all([waits, sleep(2000)]);
  await trainer.tried('acknowledge', { lease: held.id, version: 2 });
  for (const wait of [0.2, 0]) await trainer.tried('lease', { consumer: 't', groups: 2, wait });
  await trainer.feed.cancel();
  await trainer.ends();
});

feed('feed-alike-whole', { queries: 6 }, async (trainer) => {
  await step(trainer, 1);
  await trainer.ask('version', { version: 1 });
  await train(trainer, 2, 3);
  await trainer.ask('lease', { consumer: 't', groups: 1, wait: 5 });
  await trainer.ends();
});
