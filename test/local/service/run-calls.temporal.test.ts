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
    const begun = new Set<string>();
    const { start, held } = await openWorker(async ({ run }) => {
      begun.add(run);
      const context = Context.current();
      while (!held.aborted) {
        context.heartbeat();
        await context.sleep(1000);
      }
      throw new Error('the test has ended');
    });
    const runs = Array.from({ length: RUNS }, (_, n) => `r${n}`);
    await Promise.all(runs.map(start));
    await until('all to begin', () => begun.size === RUNS, 100_000);
    expect([...begun].sort()).toEqual(runs.sort());
  });

  test('that do not end when they are cancelled end with the worker, which has not failed', async () => {
    let begun = false;
    const { start, held, stop } = await openWorker(async () => {
      begun = true;
      await new Promise((end) => held.addEventListener('abort', end));
    });
    await start('deaf');
    await until('it to begin', () => begun);
    await stop();
    expect(held.aborted).toBe(false);
  });
});

/** A worker in a namespace of its own whose `accept` is `accept`; it ends with the test, when `held` is aborted. */
async function openWorker(accept: (input: CollectionInput) => Promise<void>) {
  const namespace = `run-calls-${process.pid}-${Date.now()}`;
  const address = inject('temporalAddress');
  const client = await openNamespace(await Connection.connect({ address }), namespace);
  await ensureSearchAttributes(client.connection as Connection, namespace);
  const held = new AbortController();
  const cluster = await openWorkerConnection({ say: () => {}, signal: held.signal }, { address, namespace });
  const none = async () => undefined;
  const activities = {
    accept,
    generate: none,
    begin: none,
    evaluate: none,
    endEnvironment: none,
    runAgent: async () => undefined,
    callTool: none,
  };
  const queues = await openQueues(cluster, {
    activities,
    workflowBundle: fileURLToPath(new URL('../../../dist/workflow-bundle.js', import.meta.url)),
    slots: 1,
    servesSessions: false,
    judgesCode: false,
    drainMs: 0,
  });
  const stop = async () => {
    queues.stop();
    await queues.done;
  };
  onTestFinished(async () => {
    held.abort();
    await stop();
    await Promise.all([cluster.close(), client.connection.close()]);
  });
  const start = (run: string) => startCollection(cluster.session, { run, out: '/nowhere', maxConcurrent: 1 }, run);
  return { start, held: held.signal, stop };
}
