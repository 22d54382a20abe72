// One run with thousands of rollouts in flight, while the model answers nobody: what its commands take, what its workers
// and its server cost, and how it ends. `HELD` says how many. What took how long is judged at full size alone. The server
// is asked once a second, so that the answers cost it nothing.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { until } from '../support/until.ts';
import { cpuSeconds } from '../support/processes.ts';
import { FULL } from './size.ts';
import type { Workload } from './workload.ts';

export const HELD = Number(process.env['HELD'] ?? (FULL ? 10_000 : 1200));
/** More than one workflow may have in flight is played in blocks. */
const IN_BLOCKS = 1000;
const WATCHED_MS = FULL ? 120_000 : 10_000;
const WANTED = { statusMs: 2000, cancelSeconds: 60 };
const EVERY_MS = 1000;

/** Milliseconds of processor are those of one rollout. */
interface Cost {
  readonly seconds: number;
  readonly serverMs: number;
  readonly databaseMs: number;
  readonly workersMs: number;
}

/** `database`: its processes, where it is one of its own. */
export async function hold(workload: Workload, database: () => readonly number[] = () => []): Promise<void> {
  const run = { name: 'held', rollouts: HELD + 500, turns: 1, maxConcurrent: HELD };
  const { client } = workload.session;
  const pids = workload.workers.map((worker) => worker.pid()!);
  const spent = () => [[workload.temporal.pid()!], database(), pids].map(cpuSeconds);
  const cost = async (work: () => Promise<unknown>): Promise<Cost> => {
    const [at, before] = [performance.now(), spent()];
    await work();
    const seconds = Math.round(performance.now() - at) / 1000;
    const each = spent().map((after, i) => Math.round((10_000 * (after - before[i]!)) / HELD) / 10);
    return { seconds, serverMs: each[0]!, databaseMs: each[1]!, workersMs: each[2]! };
  };
  const timed = async (...args: string[]) => {
    const at = performance.now();
    const { code, stdout, stderr } = await workload.everturn.run(...args);
    expect(code, stderr).toBe(0);
    return { ms: Math.round(performance.now() - at), stdout };
  };
  const open = "WorkflowType = 'rollout' AND ExecutionStatus = 'Running'";
  const count = async (query: string) => (await client.workflow.count(query)).count;
  const inFlight = async () => {
    await sleep(EVERY_MS);
    const { stdout } = await timed('status', run.name, '--json');
    return (JSON.parse(stdout) as { inFlight: number }).inFlight === HELD || undefined;
  };

  const begun = await cost(async () => {
    await workload.start(run);
    await until('status says so', inFlight, 3_600_000);
  });
  await until(`${HELD} listed`, async () => (await sleep(EVERY_MS), (await count(open)) === HELD), 600_000);
  const blocks = await count("WorkflowType = 'block' AND ExecutionStatus = 'Running'");
  // A worker that has just begun thousands may be too busy to answer a query; then `status` gives the last report.
  const byWorkers = async () => {
    const { ms, stdout } = await timed('status', run.name);
    return { ms, isAnswered: stdout.includes('2 workers take 128 generations at once') };
  };
  await until('the workers answer', async () => (await sleep(EVERY_MS), (await byWorkers()).isAnswered), 120_000);

  const memory: number[] = [];
  const statusMs: number[] = [];
  let unanswered = 0;
  for (const end = performance.now() + WATCHED_MS; performance.now() < end; await sleep(EVERY_MS)) {
    const { ms, isAnswered } = await byWorkers();
    if (!isAnswered) unanswered++;
    statusMs.push(ms);
    memory.push(Math.max(...pids.map(residentMiB)));
  }
  const version = (await timed('--version')).ms;
  const pauseMs = (await timed('pause', run.name)).ms;
  const tuneMs = (await timed('tune', run.name, '--max-concurrent', String(HELD + 100))).ms;
  // Paused, it begins nothing.
  expect(await count(open)).toBe(HELD);

  const ended = await cost(async () => {
    await timed('cancel', run.name);
    await workload.untilEnded(run.name, 3_600_000);
  });
  const { counts } = JSON.parse(readFileSync(join(workload.out, run.name, 'result.json'), 'utf8')) as CollectionResult;
  expect(counts.outcomes).toEqual({ complete: 0, undecided: 0, failed: 0, cancelled: HELD });
  const part = Math.max(1, Math.floor(memory.length / 4));
  const workerMiB = { first: middle(memory.slice(0, part)), last: middle(memory.slice(-part)) };
  const status = { of: statusMs.length, unanswered, median: middle(statusMs), most: Math.max(...statusMs), version };
  console.log(JSON.stringify({ held: HELD, blocks, begun, ended, status, pauseMs, tuneMs, workerMiB }));
  expect(blocks > 1).toBe(HELD > IN_BLOCKS);
  await timed('check', run.name);
  expect(unanswered).toBeLessThan(0.1 * statusMs.length);
  expect(workerMiB.last).toBeLessThan(workerMiB.first * 1.1);
  expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
  if (!FULL) return;
  expect(status.median).toBeLessThan(WANTED.statusMs);
  expect(ended.seconds).toBeLessThan(WANTED.cancelSeconds);
}

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}
