// A feed and its trainer: leases, one that ends by its time, versions, and a feed that continues as new.

import { afterAll, beforeAll } from 'vitest';
import type { GrantedLease, LeaseResult } from '../../domain/feed/messages.ts';
import { feedWorkflowId } from '../../domain/names/ids.ts';
import { makeFeedRun } from '../support/feed-run.ts';
import { recorder } from './recorder.ts';

const { open, close, rig, scenario } = recorder();
beforeAll(open);
afterAll(close);

scenario('feed-continued-first', {}, async () => {
  const [{ out, client }, run] = [rig(), 'feed-continued-first'];
  await makeFeedRun(out, run, { queries: 6, samples: 1, train: { maxStaleness: 0 } });
  const start = (type: string, workflowId: string, input: object) =>
    client.workflow.start(type, { workflowId, taskQueue: 'everturn', args: [{ run, out, ...input }] });
  const feed = await start('feed', feedWorkflowId(run), { idleMs: 300, maxUpdates: 4 });
  await start('collection', run, {});
  // A history that continued as new is another one of the same workflow.
  const latest = client.workflow.getHandle(feedWorkflowId(run));
  const ask = <T>(verb: string, given: object) => latest.executeUpdate<T, [object]>(verb, { args: [given] });
  async function lease(): Promise<GrantedLease> {
    for (;;) {
      const { lease: granted } = await ask<LeaseResult>('lease', { consumer: 't', groups: 2, wait: 20 });
      if (granted) return granted;
    }
  }
  const held = await lease();
  const waits = ask('lease', { consumer: 'w', groups: 2, wait: 30, seconds: 0.3 }).catch(() => {});
  await ask('acknowledge', { lease: held.id, version: 1 });
  await ask('version', { version: 1 });
  for (const version of [2, 3]) {
    await ask('acknowledge', { lease: (await lease()).id, version });
    await ask('version', { version });
  }
  await waits;
  await latest.result().catch(() => {});
  return { workflowId: feed.workflowId, runId: feed.firstExecutionRunId };
});
