// The promise: one run holds ten thousand rollouts in flight, in blocks, while the model answers nobody: `status` answers
// as ever, the workers take no more memory the longer it lasts, one command steers it, and a cancel ends and counts all.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { CollectionResult } from '../../domain/messages.ts';
import { until } from '../support/until.ts';
import { FULL } from './size.ts';
import { useWorkload, type Workload } from './workload.ts';

const HELD = Number(process.env['HELD'] ?? (FULL ? 10_000 : 1200));
const WATCHED_MS = FULL ? 120_000 : 10_000;
const RUN = { name: 'held', rollouts: HELD + 500, turns: 1, maxConcurrent: HELD };

let workload: Workload;
useWorkload(
  { file: import.meta.filename, workers: 2, slots: 64, model: { kind: 'sglang', latencyMs: 86_000_000 } },
  (opened) => (workload = opened),
);

describe(`${HELD} rollouts held in flight in one run`, () => {
  test(
    'are one run to every command, cost no more with time, and end with one cancel',
    { timeout: 7_200_000 },
    async () => {
      const { client } = workload.session;
      const begun = Date.now();
      await workload.start(RUN);
      const open = "WorkflowType = 'rollout' AND ExecutionStatus = 'Running'";
      await until(
        `${HELD} open`,
        async () => (await client.workflow.count(open)).count >= HELD || undefined,
        3_600_000,
      );
      const openedMs = Date.now() - begun;
      const blocks = (await client.workflow.count("WorkflowType = 'block' AND ExecutionStatus = 'Running'")).count;
      const timed = async (...args: string[]) => {
        const at = Date.now();
        const { code, stdout, stderr } = await workload.everturn.run(...args);
        expect(code, stderr).toBe(0);
        return { ms: Date.now() - at, stdout };
      };
      const inFlight = async () => {
        const { stdout } = await timed('status', RUN.name, '--json');
        return (JSON.parse(stdout) as { inFlight: number }).inFlight === HELD || undefined;
      };
      await until('status says so', inFlight, 600_000);

      const pids = workload.workers.map((worker) => worker.pid()!);
      const memory: number[] = [];
      const statusMs: number[] = [];
      for (const end = Date.now() + WATCHED_MS; Date.now() < end; await sleep(1000)) {
        const { ms, stdout } = await timed('status', RUN.name);
        expect(stdout).toMatch(/2 workers take 128 generations at once/);
        statusMs.push(ms);
        memory.push(Math.max(...pids.map(residentMiB)));
      }
      const versionMs = (await timed('--version')).ms;
      const pauseMs = (await timed('pause', RUN.name)).ms;
      const tuneMs = (await timed('tune', RUN.name, '--max-concurrent', String(HELD + 100))).ms;
      // Paused, it begins nothing.
      expect((await client.workflow.count(open)).count).toBe(HELD);
      const cancelled = Date.now();
      await timed('cancel', RUN.name);
      const commandMs = Date.now() - cancelled;
      await workload.untilEnded(RUN.name, 3_600_000);
      const cancelMs = Date.now() - cancelled;
      const part = Math.max(1, Math.floor(memory.length / 4));
      const [first, last] = [middle(memory.slice(0, part)), middle(memory.slice(-part))];
      const status = { of: statusMs.length, median: middle(statusMs), most: Math.max(...statusMs), versionMs };
      console.log(
        JSON.stringify({
          held: HELD,
          blocks,
          openedMs,
          status,
          pauseMs,
          tuneMs,
          commandMs,
          cancelMs,
          workerMiB: { first, last },
        }),
      );
      const { counts } = JSON.parse(
        readFileSync(join(workload.out, RUN.name, 'result.json'), 'utf8'),
      ) as CollectionResult;
      expect(counts.outcomes).toEqual({ complete: 0, undecided: 0, failed: 0, cancelled: HELD });
      expect((await workload.everturn.run('check', RUN.name)).code).toBe(0);
      expect(last).toBeLessThan(first * 1.1);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
      if (!FULL) return;
      expect(status.median).toBeLessThan(2000);
      expect(cancelMs).toBeLessThan(60_000);
    },
  );
});

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}
