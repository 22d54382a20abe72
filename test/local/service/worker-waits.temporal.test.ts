// A worker process and a real server of its own that comes late, or goes in the moment in which the worker starts.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openWorkerConnection } from '../../../client/temporal/worker-connection.ts';
import { freePort } from '../../../local/machine/ports.ts';
import { type DevServer, startDevServer } from '../../../local/service/dev-server.ts';
import { openEverturn, type Running } from '../../support/everturn.ts';
import { until } from '../../support/until.ts';
import { serverIn } from './support.ts';

async function openPlace() {
  const port = await freePort([]);
  const health = await freePort([], [port]);
  const everturn = openEverturn({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
  let server: DevServer | undefined;
  const running: Running[] = [];
  onTestFinished(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL');
      await ended;
    }
    await server?.stop();
    await everturn.close();
  });
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${health}${path}`).then(
      async (reply) => `${reply.status} ${(await reply.text()).trim()}`,
      () => 'closed',
    );
  return {
    address: `127.0.0.1:${port}`,
    ask,
    start(...args: string[]) {
      const worker = everturn.start('worker', '--health-port', `127.0.0.1:${health}`, ...args);
      running.push(worker);
      return worker;
    },
    worker: (env: Record<string, string>) => openEverturn({ TEMPORAL_ADDRESS: `127.0.0.1:${port}`, ...env }),
    async serve() {
      server = await startDevServer(await serverIn(everturn.folder, { port, uiPort: null }));
    },
    async kill() {
      process.kill(server!.id.pid, 'SIGKILL');
      await server!.exited;
    },
  };
}

const untilItWaits = (worker: Running) =>
  until('the report', () => worker.output().includes('this worker waits for it'), 240_000);

describe('a worker', { timeout: 300_000 }, () => {
  test('waits for a server that comes late, says so, and joins', async () => {
    const place = await openPlace();
    const worker = place.start();
    await untilItWaits(worker);
    expect(await place.ask('/live')).toBe('200 live');
    expect(await place.ask('/ready')).toBe('503 it waits for its cluster');
    expect(await place.ask('/other')).toMatch(/^404 /);
    await place.serve();
    await until('a ready worker', async () => (await place.ask('/ready')) === '200 ready');
    expect(worker.output()).toMatch(/answers, after \d+ s\./);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0, signal: null });
  });

  test('ends at once, in order, when it is stopped while it waits', async () => {
    const place = await openPlace();
    const worker = place.start();
    await untilItWaits(worker);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0, signal: null });
  });

  test('survives a server that goes in any moment of its start', async () => {
    const place = await openPlace();
    await place.serve();
    // From before its first connection to after its last step.
    for (const ms of process.env['EVERTURN_TESTS'] === 'all' ? [200, 600, 1000, 1400] : [600, 1200]) {
      const worker = place.start();
      await sleep(ms);
      await place.kill();
      await place.serve();
      await until('a ready worker', async () => {
        if (worker.child.exitCode !== null) throw new Error(`it ended: ${worker.output()}`);
        return (await place.ask('/ready')) === '200 ready';
      });
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toMatchObject({ code: 0 });
    }
  });

  test('opens queues that a server which went has not answered, once it is back', async () => {
    const place = await openPlace();
    await place.serve();
    const said: string[] = [];
    const waiting = { say: (line: string) => said.push(line), signal: new AbortController().signal };
    const cluster = await openWorkerConnection(waiting, { address: place.address, namespace: 'default' });
    onTestFinished(cluster.close);
    await place.kill();
    const opened = ['first', 'second'].map((taskQueue) =>
      cluster.untilAnswered(() => cluster.createWorker({ taskQueue, activities: { idle: async () => undefined } })),
    );
    await until('the report', () => said.length > 0, 120_000);
    await place.serve();
    for (const worker of await Promise.all(opened)) {
      const ended = worker.run();
      worker.shutdown();
      await ended;
    }
  });

  test('ends with exit code 4 for a namespace that stays unknown', async () => {
    const place = await openPlace();
    await place.serve();
    const other = place.worker({ TEMPORAL_NAMESPACE: 'no-such' });
    onTestFinished(() => other.close());
    const { code, stderr } = await other.run('worker');
    expect(code).toBe(4);
    expect(stderr).toContain('has no namespace "no-such"');
    expect(stderr.match(/cannot be used yet/g)).toHaveLength(1);
  });
});
