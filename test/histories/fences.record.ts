// Feeds whose trainers are fenced by their lines: rewinds that change nothing, requests sent again, stale trainers.

import { afterAll, beforeAll } from 'vitest';
import type { ModelServer } from '../support/model-server.ts';
import { feedRecorder, step, train } from './feed-recorder.ts';
import { recorder } from './recorder.ts';

const recording = recorder();
const { open, close, rig } = recording;
const servers: ModelServer[] = [];
const feed = feedRecorder(recording, servers);
beforeAll(open);
afterAll(async () => {
  await close();
  await Promise.all(servers.map((server) => server.close()));
});

feed('feed-fenced', { queries: 6 }, async (trainer) => {
  await trainer.ask('rewind', { version: 0, request: 'a' });
  await trainer.ask('rewind', { version: 0, request: 'a' });
  const { id } = await trainer.lease();
  await trainer.ask('rewind', { version: 0 });
  for (const line of [0, 1, 3]) await trainer.tried('lease', { consumer: 't', groups: 1, line });
  await trainer.tried('acknowledge', { lease: id, version: 1, line: 1 });
  await step(trainer, 1);
  // Three versions and a rewind in one task, and a lease that waits while its line ends.
  const waits = trainer.tried('lease', { consumer: 'w', groups: 2, least: 2, wait: 30, request: 'w' });
  const queued = [1, 1, 2].map((version) => trainer.tried('version', { version }));
  await Promise.all([trainer.tried('rewind', { version: 0, request: 'b' }), ...queued, waits]);
  await trainer.tried('rewind', { version: 0, request: 'a' });
  const held = await trainer.lease({ request: 'held' });
  const renews = trainer.tried('lease', { consumer: 't', groups: 2, request: 'held', line: held.line });
  await Promise.all([trainer.tried('rewind', { version: 0 }), renews]);
  await step(trainer, 1);
  await trainer.tried('version', { version: 1 });
  await trainer.feed.cancel();
  await trainer.ends();
});

feed('feed-fenced-continued-last', { queries: 6, more: { maxUpdates: 4 } }, async (trainer) => {
  await trainer.ask('rewind', { version: 0, request: 'a' });
  await train(trainer, 1, 2);
  await trainer.tried('rewind', { version: 0, request: 'a' });
  await train(trainer, 3, 3);
  await trainer.ends();
  return rig().client.workflow.getHandle(trainer.feed.workflowId);
});
