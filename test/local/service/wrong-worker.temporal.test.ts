// A worker whose operator does not allow a run leaves its steps to others: no rollout fails of it, and `status` names it.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, openCluster } from '../../support/cluster.ts';
import type { Everturn } from '../../support/everturn.ts';
import { sums, type TextServer, textServer } from '../../support/text-server.ts';
import { until } from '../../support/until.ts';

const ROLLOUTS = 12;

describe('a worker with another --runs-under', { timeout: 600_000 }, () => {
  let cluster: Cluster;
  let server: TextServer;
  beforeAll(async () => {
    cluster = await openCluster('wrong-worker');
    server = await textServer();
    cluster.everturn.write('sums.jsonl', sums(ROLLOUTS));
  });
  afterAll(async () => {
    server.close();
    await cluster.close();
  });

  const worker = (place: Everturn) => cluster.keep(place.start('worker', '--runs-under', place.folder));

  test('fails nothing of a run that another one may play, and is named until it is gone', async () => {
    const own = cluster.everturn;
    const wrong = worker(cluster.openPlace());
    const flags = ['--name', 'shared', '--model', server.model, '--num-turns', '2'];
    await own.mustRun('run', 'sums.jsonl', ...flags, '--detach');
    const named = `Waiting for another worker: This worker does not use the folder ${JSON.stringify(join(own.folder, 'runs/shared'))}`;
    const status = async () => {
      const text = await own.mustCall('status', 'shared');
      return text.includes(named) && text;
    };
    const stdout = await until('status names the worker', status, 240_000);
    expect(stdout).toContain('--runs-under');
    expect(stdout).toContain(`(worker ${wrong.child.pid}@`);

    // A workflow that it holds waits for as long as it is up.
    worker(own);
    wrong.child.kill('SIGTERM');
    await wrong.ended;
    const ended = await own.mustRun('run', 'sums.jsonl', ...flags);
    expect(ended.stdout).toContain(`${ROLLOUTS} rollouts: ${ROLLOUTS} complete`);
    expect(server.asked()).toBe(2 * ROLLOUTS);
    await own.mustCall('check', 'shared');
  });
});
