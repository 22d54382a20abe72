// The activities of runs, feeds and updates of weights share a queue, and many of them wait: on a real server, with a worker
// whose activities are held.

import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { CollectionInput } from '../../../domain/run/messages.ts';
import { startCollection } from '../../../client/temporal/runs.ts';
import { ensureSearchAttributes } from '../../../client/temporal/search-attributes.ts';
import { openWorkerConnection } from '../../../client/temporal/worker-connection.ts';
import { openQueues } from '../../../client/temporal/worker-queues.ts';
import { openNamespace } from '../../support/namespace.ts';
import { until } from '../../support/until.ts';

/** More than the SDK takes at once by itself. */
const RUNS = 150;

describe("a run's activities", () => {
  test('begin at once, though a hundred and fifty others of one worker wait', async () => {
    const namespace = `run-calls-${process.pid}-${Date.now()}`;
    const address = inject('temporalAddress');
    const client = await openNamespace(await Connection.connect({ address }), namespace);
    await ensureSearchAttributes(client.connection as Connection, namespace);
    const begun = new Set<string>();
    const held = new AbortController();
    const cluster = await openWorkerConnection({ say: () => {}, signal: held.signal }, { address, namespace });
    const { session } = cluster;
    const accept = async ({ run }: CollectionInput) => {
      begun.add(run);
      const context = Context.current();
      while (!held.signal.aborted) {
        context.heartbeat();
        await context.sleep(1000);
      }
      throw new Error('the test has ended');
    };
    const none = async () => undefined;
    const others = {
      generate: none,
      begin: none,
      evaluate: none,
      endEnvironment: none,
      runAgent: async () => undefined,
      callTool: none,
    };
    const activities = { accept, ...others };
    const queues = await openQueues(cluster, {
      activities,
      workflowBundle: fileURLToPath(new URL('../../../dist/workflow-bundle.js', import.meta.url)),
      slots: 1,
      servesSessions: false,
      judgesCode: false,
      drainMs: 0,
    });
    onTestFinished(async () => {
      held.abort();
      queues.stop();
      await queues.done;
      await Promise.all([cluster.close(), client.connection.close()]);
    });
    const runs = Array.from({ length: RUNS }, (_, n) => `r${n}`);
    const start = (run: string) => startCollection(session, { run, out: '/nowhere', maxConcurrent: 1 }, run);
    await Promise.all(runs.map(start));
    await until('all to begin', () => begun.size === RUNS, 100_000);
    expect([...begun].sort()).toEqual(runs.sort());
  });
});
