// A worker that is asked to end while answers are under way, as processes on a real server, with a model server
// that counts: what finishes within the drain time is stored and never asked for again; what does not goes to another worker.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { all } from '../../contract/store.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import { type Everturn, openEverturn, type Running } from '../../support/everturn.ts';
import { openNamespace } from '../../support/namespace.ts';
import { QUESTION, type TextServer, textServer, SOLUTION } from '../../support/text-server.ts';
import { until } from '../../support/until.ts';

const ROLLOUTS = 3;

describe('a worker that is asked to end', { timeout: 600_000 }, () => {
  const namespace = `drain-${process.pid}-${Date.now()}`;
  const cluster = { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: namespace };
  let connection: Connection;
  let everturn: Everturn;
  const workers: Running[] = [];
  const servers: TextServer[] = [];

  beforeAll(async () => {
    connection = await Connection.connect({ address: cluster.TEMPORAL_ADDRESS });
    await openNamespace(connection, namespace);
    everturn = openEverturn(cluster);
    const row = (n: number) => JSON.stringify({ query_id: `q${n}`, question: QUESTION, solutions: [SOLUTION] });
    writeFileSync(join(everturn.folder, 'sums.jsonl'), Array.from({ length: ROLLOUTS }, (_, n) => row(n)).join('\n'));
  });
  afterAll(async () => {
    for (const { child, ended } of workers) {
      child.kill('SIGKILL');
      await ended;
    }
    servers.forEach((server) => server.close());
    await everturn.close();
    await connection.close();
  });

  async function startWorker(...args: string[]): Promise<Running> {
    const worker = everturn.start('worker', ...args);
    workers.push(worker);
    await until('a worker that polls', () => (worker.output().match(/RUNNING/g) ?? []).length >= 2);
    return worker;
  }

  /** A worker with one answer for each rollout under way, and then asked to end. */
  async function endedWhileAsking(run: string, ...args: string[]) {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const server = await textServer(undefined, () => held);
    servers.push(server);
    const worker = await startWorker(...args);
    const flags = ['--name', run, '--model', server.model, '--num-turns', '2', '--max-concurrent', String(ROLLOUTS)];
    const begun = await everturn.run('run', 'sums.jsonl', ...flags, '--detach');
    expect(begun.code, begun.stderr).toBe(0);
    await until('all first answers under way', () => server.asked() >= ROLLOUTS, 240_000);
    worker.child.kill('SIGTERM');
    await until('a worker that ends', () => /STOPPING|DRAINING/.test(worker.output()));
    return { server, worker, release, untilComplete: () => untilComplete('run', 'sums.jsonl', ...flags) };
  }

  async function trajectories(run: string): Promise<Trajectory[]> {
    const found = await all(readTrajectories(openFileStore(join(everturn.folder, 'runs'), run)));
    expect(found).toHaveLength(ROLLOUTS);
    return found;
  }
  const attempts = (played: readonly Trajectory[], turn: number) =>
    played.map(({ turns }) => turns[turn - 1]?.record.attempt);
  /** By the same command, which attaches. */
  async function untilComplete(...command: readonly string[]) {
    const watched = await everturn.run(...command);
    expect(watched.code, watched.stderr).toBe(0);
    const checked = await everturn.call('check', command[command.indexOf('--name') + 1]!);
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  }

  test('finishes the answers that come within its drain time: stored, asked for once, and nothing new is taken', async () => {
    const {
      server,
      worker,
      release,
      untilComplete: complete,
    } = await endedWhileAsking('finished', '--drain-seconds', '120');
    // A worker that does not wait ends meanwhile, and its answers are lost.
    await sleep(1500);
    release();
    const { code, signal } = await worker.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect([server.asked(), server.answered(), server.left()]).toEqual([ROLLOUTS, ROLLOUTS, 0]);
    expect(attempts(await trajectories('finished'), 1)).toEqual([1, 1, 1]);
    server.wait = async () => undefined;
    const next = await startWorker();
    await complete();
    expect([server.asked(), server.left()]).toEqual([2 * ROLLOUTS, 0]);
    expect(attempts(await trajectories('finished'), 2)).toEqual([1, 1, 1]);
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });

  test('hands over the answers that come later: it ends, and another worker asks again, each once', async () => {
    const { server, worker, untilComplete: complete } = await endedWhileAsking('handed-over', '--drain-seconds', '1');
    const { code, signal } = await worker.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    // The model server learns that nobody waits any more, and stops generating.
    expect([server.answered(), server.left()]).toEqual([0, ROLLOUTS]);
    server.wait = async () => undefined;
    const next = await startWorker();
    await complete();
    expect([server.asked(), server.answered()]).toEqual([3 * ROLLOUTS, 2 * ROLLOUTS]);
    const played = await trajectories('handed-over');
    expect([attempts(played, 1), attempts(played, 2)]).toEqual([
      [2, 2, 2],
      [1, 1, 1],
    ]);
    expect(played.every(({ end }) => end?.outcome === 'complete')).toBe(true);
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });

  test('is replaced while it finishes: the others play all else meanwhile', async () => {
    const next = await startWorker();
    const {
      server,
      worker,
      release,
      untilComplete: complete,
    } = await endedWhileAsking('replaced', '--drain-seconds', '120');
    server.wait = async () => undefined;
    release();
    await complete();
    const { code } = await worker.ended;
    expect(code).toBe(0);
    expect([server.asked(), server.answered(), server.left()]).toEqual([2 * ROLLOUTS, 2 * ROLLOUTS, 0]);
    next.child.kill('SIGTERM');
    await next.ended;
  });
});
