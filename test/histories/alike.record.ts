// What a replay may see otherwise decides nothing: collections, blocks and feeds that continue as new by what they did, a
// page that lasts through several workflow tasks, and leases that end by timers of their own.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import type { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { feedRecorder, step, train } from './feed-recorder.ts';
import { recorder, RIGHT, type Scenario } from './recorder.ts';

const recording = recorder();
const { open, close, rig, scenario, script, start, dataset } = recording;
const servers: ModelServer[] = [];
const feed = feedRecorder(recording, servers);
beforeAll(open);
afterAll(close);

/** Twice as long as a workflow task may last. */
const slowPages: Scenario = {
  answer: () => sleep(100, RIGHT),
  at: ({ step: at }) => (at === 'page' ? sleep(21_000) : undefined),
};

for (const [name, more] of [
  // The length is reached while the page lasts, and the steps are not.
  ['collection-alike', { maxConcurrent: 4, maxHistoryEvents: 15 }],
  ['blocks-alike', { maxConcurrent: 12, maxWindow: 8, maxHistoryEvents: 40 }],
] as const) {
  let played: Promise<void> | undefined;
  const play = async () => {
    script(name, slowPages);
    const input = { run: name, dataset: dataset(name, name === 'blocks-alike' ? 48 : 9), settings: { numTurns: 1 } };
    const handle = await start('collection', name, { ...input, ...more });
    await handle.result();
    await sleep(1000);
  };
  const parts = name === 'blocks-alike' ? (['root', 'block'] as const) : (['first', 'last'] as const);
  for (const part of parts) {
    scenario(`${name}-${part}`, slowPages, async () => {
      await (played ??= play());
      const workflowId = part === 'block' ? `${name}~0-16` : name;
      const found = [];
      for await (const w of rig().client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) found.push(w);
      if (part !== 'root' && found.length < 2) throw new Error(`${workflowId} has ${found.length} histories only.`);
      found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
      return { workflowId, runId: found.at(part === 'last' ? -1 : 0)!.runId };
    });
  }
}

feed('feed-alike-leases-that-end', { queries: 6 }, async (trainer) => {
  const late = await trainer.lease({ seconds: 0.3 });
  await until('it has ended', async () => (await trainer.progress()).leases.length === 0, 120_000);
  await trainer.tried('renew', { lease: late.id });
  await trainer.ask('acknowledge', { lease: late.id, version: 1 });
  await trainer.ask('version', { version: 1 });
  const held = await trainer.lease({ seconds: 600 });
  await trainer.ask('renew', { lease: held.id, seconds: 900 });
  await trainer.ask('renew', { lease: held.id, seconds: 0.2 });
  await until('it has ended, too', async () => (await trainer.progress()).leases.length === 0, 120_000);
  await trainer.lease();
  await trainer.lease();
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

for (const part of ['first', 'last'] as const) {
  feed(`feed-alike-continued-${part}`, { queries: 6, more: { maxUpdates: 4 } }, async (trainer) => {
    const held = await trainer.lease();
    await trainer.ask('renew', { lease: held.id, seconds: 900 });
    await trainer.ask('acknowledge', { lease: held.id, version: 1 });
    await trainer.ask('version', { version: 1 });
    const last = await trainer.lease({ seconds: 900 });
    await trainer.ask('acknowledge', { lease: last.id, version: 2 });
    await trainer.ask('version', { version: 2 });
    await train(trainer, 3, 3);
    await trainer.ends();
    const first = { workflowId: trainer.feed.workflowId, runId: trainer.feed.firstExecutionRunId };
    return part === 'first' ? first : rig().client.workflow.getHandle(trainer.feed.workflowId);
  });
}
