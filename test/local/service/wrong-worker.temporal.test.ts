// A worker whose operator does not allow a run leaves its steps to others: no rollout fails of it, and `status` names it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Everturn, openEverturn, type Running } from '../../support/everturn.ts';
import { openNamespace } from '../../support/namespace.ts';
import { QUESTION, type TextServer, textServer, SOLUTION } from '../../support/text-server.ts';
import { until } from '../../support/until.ts';

const ROLLOUTS = 12;

describe('a worker with another --runs-under', { timeout: 600_000 }, () => {
  const namespace = `wrong-worker-${process.pid}-${Date.now()}`;
  const cluster = { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: namespace };
  let client: Client;
  let server: TextServer;
  let own: Everturn;
  let other: Everturn;
  const running: Running[] = [];

  beforeAll(async () => {
    const connection = await Connection.connect({ address: cluster.TEMPORAL_ADDRESS });
    client = await openNamespace(connection, namespace);
    server = await textServer();
    own = openEverturn(cluster);
    other = openEverturn(cluster);
    const row = (n: number) => JSON.stringify({ query_id: `q${n}`, question: QUESTION, solutions: [SOLUTION] });
    writeFileSync(join(own.folder, 'sums.jsonl'), Array.from({ length: ROLLOUTS }, (_, n) => row(n)).join('\n'));
  });
  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL');
      await ended;
    }
    server.close();
    await own.close();
    await other.close();
    await client.connection.close();
  });

  function worker(place: Everturn): Running {
    const one = place.start('worker', '--runs-under', place.folder);
    running.push(one);
    return one;
  }

  test('fails nothing of a run that another one may play, and is named until it is gone', async () => {
    const wrong = worker(other);
    const flags = ['--name', 'shared', '--model', server.model, '--num-turns', '2'];
    const begun = await own.run('run', 'sums.jsonl', ...flags, '--detach');
    expect(begun.code, begun.stderr).toBe(0);
    const named = `Waiting for another worker: This worker does not use the folder ${JSON.stringify(join(own.folder, 'runs/shared'))}`;
    await until(
      'status names the worker',
      async () => (await own.run('status', 'shared')).stdout.includes(named),
      240_000,
    );
    const { stdout } = await own.run('status', 'shared');
    expect(stdout).toContain('--runs-under');
    expect(stdout).toContain(`(worker ${wrong.child.pid}@`);

    // A workflow that it holds waits for as long as it is up.
    worker(own);
    wrong.child.kill('SIGTERM');
    await wrong.ended;
    const ended = await own.run('run', 'sums.jsonl', ...flags);
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    expect(ended.stdout).toContain(`${ROLLOUTS} rollouts: ${ROLLOUTS} complete`);
    expect(server.asked()).toBe(2 * ROLLOUTS);
    const checked = await own.run('check', 'shared');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  });
});
