// Feeds and their trainers: verbs, refusals, leases that end, members played again, weights.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { ModelError, StoreError } from '../../domain/errors/errors.ts';
import { feedWorkflowId, rolloutWorkflowId } from '../../domain/run/ids.ts';
import { openFileStore } from '../../records/file-store.ts';
import { makeFeedRun } from '../support/feed-run.ts';
import type { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { feedRecorder, step, train } from './feed-recorder.ts';
import { recorder, RIGHT, type Scenario } from './recorder.ts';

const recording = recorder();
const { open, close, rig, scenario } = recording;
const servers: ModelServer[] = [];
const feed = feedRecorder(recording, servers);
beforeAll(open);
afterAll(async () => {
  await close();
  await Promise.all(servers.map((server) => server.close()));
});

scenario('collection-admitted-early', {}, async () => {
  const [{ out, client }, run] = [rig(), 'collection-admitted-early'];
  await makeFeedRun(out, run, { queries: 4, samples: 1, train: { batchGroups: 1, maxStaleness: 0 } });
  const handle = await client.workflow.signalWithStart('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    args: [{ run, out }],
    signal: 'admit',
    signalArgs: [2],
  });
  await handle.signal('admit', 'all');
  await until('it waits', async () => (await handle.query<{ done: number }>('progress')).done === 2);
  await handle.signal('admit', 4);
  await handle.result();
  return handle;
});

feed('feed-rewound', { queries: 6 }, async (trainer) => {
  await train(trainer, 1, 2);
  await trainer.lease({ request: 'mine' });
  await trainer.lease({ request: 'mine' });
  await Promise.all([trainer.tried('rewind', { version: 1 }), trainer.tried('rewind', { version: 2 })]);
  await trainer.tried('rewind', { version: 1 });
  const again = await trainer.lease();
  await Promise.all([2, 3].map((version) => trainer.tried('acknowledge', { lease: again.id, version })));
  await trainer.tried('acknowledge', { lease: again.id, version: 2 });
  await Promise.all([3, 2].map((version) => trainer.tried('version', { version })));
  await Promise.all([4, 4].map((version) => trainer.tried('version', { version })));
  await trainer.lease({ groups: 2, wait: 0, least: 1 }).catch(() => undefined);
  await trainer.feed.cancel();
  await trainer.ends();
});

const failsOnce: Scenario = {
  answer({ query, tries }) {
    if (query === 'q1' && tries === 1) throw new ModelError('no', { reason: 'request-refused' });
    return RIGHT;
  },
};

feed(
  'feed-member-is-being-played',
  {
    queries: 2,
    collection: false,
    more: { idleMs: 200 },
    scenario: {
      answer: failsOnce.answer!,
      // The second try of q1 is open, and has recorded nothing yet.
      at: ({ step, query, tries }) => (step === 'open' && query === 'q1' && tries === 2 ? sleep(4000) : undefined),
    },
  },
  async (trainer) => {
    const { out, client } = rig();
    const [run, input] = [trainer.run, { run: trainer.run, out, index: 1, sample: 0 }];
    const start = (attempt: number) =>
      client.workflow.start('rollout', {
        ...{ workflowId: rolloutWorkflowId({ run, query: 'q1', sample: 0, attempt }), taskQueue: 'everturn' },
        args: [{ ...input, attempt }],
      });
    await trainer.feed.terminate();
    await (await start(1)).result();
    await start(2);
    const again = await client.workflow.start('feed', {
      ...{ workflowId: feedWorkflowId(run), taskQueue: 'everturn', args: [{ run, out, idleMs: 200 }] as [object] },
    });
    await until(
      'it was started',
      async () => (await openFileStore(out, run).getRollout({ run, query: 'q1', sample: 0, attempt: 2 })) !== undefined,
      60_000,
    );
    await sleep(500);
    await again.cancel();
    await again.result().catch(() => {});
    return { workflowId: again.workflowId, runId: again.firstExecutionRunId };
  },
);

const short = { queries: 6, train: { maxStaleness: 0 }, more: { maxUpdates: 4 } };
feed('feed-continued-first', short, async (trainer) => {
  const held = await trainer.lease();
  const waits = trainer.tried('lease', { consumer: 'w', groups: 2, wait: 30, seconds: 0.3 });
  await trainer.ask('acknowledge', { lease: held.id, version: 1 });
  await trainer.ask('version', { version: 1 });
  await train(trainer, 2, 3);
  await waits;
  await trainer.ends();
});

feed(
  'feed-that-cannot-read',
  {
    collection: false,
    scenario: {
      at({ step }) {
        if (step === 'page') throw new StoreError('The disk is broken.', { reason: 'io-error' });
      },
    },
  },
  (trainer) => trainer.ends(),
);

feed('feed-publishes-weights', { fleet: true }, async (trainer) => {
  const server = servers.at(-1)!;
  const [run, weights] = [trainer.run, '/ckpt/step'];
  await step(trainer, 1);
  await trainer.ask('version', { version: 1, weights });
  await trainer.ask('rewind', { version: 0 });
  await trainer.ask('version', { version: 0, weights });
  // Another workflow has that id: it loads that version, as far as the feed can know.
  const { out, client } = rig();
  const args: [object] = [{ run: 'nobody', out }];
  const other = await client.workflow.start('feed', { workflowId: `${run}/weights-1`, taskQueue: 'everturn', args });
  await step(trainer, 1);
  await trainer.tried('version', { version: 1, weights });
  await other.terminate();
  await server.close();
  await trainer.tried('version', { version: 1, weights });
  await trainer.feed.cancel();
  await trainer.ends();
});
