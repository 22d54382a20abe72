// A worker that is asked to end while answers are under way, as processes on a real server, with a model server
// that counts: what finishes within the drain time is stored and never asked for again; what does not goes to another worker.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { all } from '../../contract/store.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import { type Cluster, openCluster } from '../../support/cluster.ts';
import { sums, type TextServer, textServer } from '../../support/text-server.ts';
import { until } from '../../support/until.ts';

const ROLLOUTS = 3;

describe('a worker that is asked to end', { timeout: 600_000 }, () => {
  let cluster: Cluster;
  const servers: TextServer[] = [];

  beforeAll(async () => {
    cluster = await openCluster('drain');
    cluster.everturn.write('sums.jsonl', sums(ROLLOUTS));
  });
  afterAll(async () => {
    servers.forEach((server) => server.close());
    await cluster.close();
  });

  /** A worker with one answer for each rollout under way, and then asked to end. */
  async function endedWhileAsking(run: string, ...args: string[]) {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const server = await textServer(undefined, () => held);
    servers.push(server);
    const worker = await cluster.startWorker(...args);
    const flags = ['--name', run, '--model', server.model, '--num-turns', '2', '--max-concurrent', String(ROLLOUTS)];
    await cluster.everturn.mustCall('run', 'sums.jsonl', ...flags, '--detach');
    await until('all first answers under way', () => server.asked() >= ROLLOUTS, 240_000);
    worker.child.kill('SIGTERM');
    await until('a worker that ends', () => /STOPPING|DRAINING/.test(worker.output()));
    /** By the same command, which attaches. */
    const untilComplete = async () => {
      await cluster.everturn.mustCall('run', 'sums.jsonl', ...flags);
      await cluster.everturn.mustCall('check', run);
    };
    return { server, worker, release, untilComplete };
  }

  async function trajectories(run: string): Promise<Trajectory[]> {
    const found = await all(readTrajectories(openFileStore(join(cluster.everturn.folder, 'runs'), run)));
    expect(found).toHaveLength(ROLLOUTS);
    return found;
  }
  const attempts = (played: readonly Trajectory[], turn: number) =>
    played.map(({ turns }) => turns[turn - 1]?.record.attempt);

  test('finishes the answers that come within its drain time, each asked for once, and another plays all else', async () => {
    const { server, worker, release, untilComplete } = await endedWhileAsking('finished', '--drain-seconds', '120');
    // A worker that does not wait ends meanwhile, and its answers are lost.
    const next = await cluster.startWorker();
    server.wait = async () => undefined;
    release();
    await untilComplete();
    const { code, signal } = await worker.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect([server.asked(), server.answered(), server.left()]).toEqual([2 * ROLLOUTS, 2 * ROLLOUTS, 0]);
    const played = await trajectories('finished');
    for (const turn of [1, 2]) expect(attempts(played, turn)).toEqual([1, 1, 1]);
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });

  test('hands over the answers that come later: it ends, and another worker asks again, each once', async () => {
    const { server, worker, untilComplete } = await endedWhileAsking('handed-over', '--drain-seconds', '1');
    const { code, signal } = await worker.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    // The model server learns that nobody waits any more, and stops generating.
    expect([server.answered(), server.left()]).toEqual([0, ROLLOUTS]);
    server.wait = async () => undefined;
    await cluster.startWorker();
    await untilComplete();
    expect([server.asked(), server.answered()]).toEqual([3 * ROLLOUTS, 2 * ROLLOUTS]);
    const played = await trajectories('handed-over');
    expect([attempts(played, 1), attempts(played, 2)]).toEqual([
      [2, 2, 2],
      [1, 1, 1],
    ]);
    expect(played.every(({ end }) => end?.outcome === 'complete')).toBe(true);
  });
});
