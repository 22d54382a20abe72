// The promise: neither the length of a data set nor the number of open rollouts is a limit. A hundred thousand queries
// are accepted by a command line of ordinary size, ten thousand rollouts are open at once over two workers, `status`
// answers as ever, and a worker that goes on for minutes takes no more memory than it did at first.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { FULL, sized } from './size.ts';
import { type RunOptions, useWorkload, type Workload } from './workload.ts';

const QUERIES = sized(100_000);
/** As many as one run may have; a tenth would take a minute. */
const OPEN_IN_RUN = FULL ? 1000 : 300;
const OPEN = FULL ? 10_000 : OPEN_IN_RUN;
const WATCHED_MS = FULL ? 240_000 : 6_000;
const MIB = 1024;

const runs: readonly RunOptions[] = Array.from({ length: OPEN / OPEN_IN_RUN }, (_, i) => ({
  name: `many-${i}`,
  rollouts: QUERIES,
  turns: 4,
  maxConcurrent: OPEN_IN_RUN,
}));

let workload: Workload;
useWorkload(
  {
    file: import.meta.filename,
    workers: 2,
    slots: 64,
    // At first an answer takes so long that opening is nearly all that is done.
    model: { kind: 'sglang', latencyMs: 20_000 },
  },
  (opened) => (workload = opened),
);

describe('many runs at once', () => {
  test(
    `play ${QUERIES} queries in each of ${runs.length} runs, with ${OPEN} rollouts open`,
    { timeout: FULL ? 3_600_000 : 900_000 },
    async () => {
      const acceptedMs: number[] = [];
      let commandMiB = 0;
      for (const run of runs) {
        const begun = Date.now();
        const command = workload.everturn.start(...workload.command(run), '--detach');
        let over = false;
        const ended = command.ended.finally(() => (over = true));
        while (!over) {
          commandMiB = Math.max(commandMiB, peakMiB(command.child.pid));
          await sleep(20);
        }
        expect((await ended).code, command.output()).toBe(0);
        acceptedMs.push(Date.now() - begun);
      }
      const { client } = workload.session;
      const open = "WorkflowType = 'rollout' AND ExecutionStatus = 'Running'";
      const opening = Date.now();
      const opened = async () => (await client.workflow.count(open)).count >= OPEN || undefined;
      // However long a busy machine takes: the test's own limit ends it.
      await until(`${OPEN} open rollouts`, opened, FULL ? 1_800_000 : 800_000);
      const openedMs = Date.now() - opening;

      const asked = async (i: number): Promise<number> => {
        const begun = Date.now();
        const { code, stdout, stderr } = await workload.everturn.run('status', runs[i % runs.length]!.name);
        expect(code, stderr).toBe(0);
        expect(stdout).toMatch(/: running, ([\d,]+ rollouts in flight|and its workers have not answered yet)/);
        return Date.now() - begun;
      };
      const statusMs: number[] = [];
      for (let i = 0; i < (FULL ? 10 : 2); i++) statusMs.push(await asked(i));

      // One that attaches, and stays to the end.
      const following = workload.everturn.start('status', runs[0]!.name, '--follow');
      await workload.model.become({ latencyMs: 300 });
      const workers = workload.workers.map((worker) => worker.pid()!);
      const memory: number[] = [];
      const busyStatusMs: number[] = [];
      const begun = Date.now();
      const answered = () => workload.model.asks().filter(({ how }) => how === 'answered').length;
      const turns = answered();
      for (let i = 0; Date.now() < begun + WATCHED_MS; i++) {
        busyStatusMs.push(await asked(i));
        memory.push(Math.max(...workers.map(nowMiB)));
        await sleep(2000);
      }
      const turnsPerSecond = (answered() - turns) / ((Date.now() - begun) / 1000);
      expect((await client.workflow.count(open)).count).toBeGreaterThanOrEqual(OPEN * 0.9);
      const followMiB = peakMiB(following.child.pid);

      const part = Math.max(1, Math.floor(memory.length / 5));
      const [first, last] = [middle(memory.slice(part, 2 * part)), middle(memory.slice(-part))];
      console.log(
        JSON.stringify({
          ...{ queries: QUERIES * runs.length, open: OPEN, acceptedMs, commandMiB, followMiB, openedMs },
          ...{ statusMs: told(statusMs), busyStatusMs: told(busyStatusMs) },
          ...{ workerMiB: { first, last, most: Math.max(...memory) }, turnsPerSecond },
        }),
      );
      expect(Math.max(commandMiB, followMiB)).toBeLessThan(500);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
      if (FULL) {
        expect(Math.max(...statusMs)).toBeLessThan(2000);
        expect(last).toBeLessThan(first * 1.1);
        return;
      }
      // In full, two cores would take the better part of an hour.
      for (const { name } of runs) expect((await workload.everturn.run('cancel', name)).code).toBe(0);
      for (const { name } of runs) await workload.untilEnded(name, 60_000);
      expect((await following.ended).code).not.toBe(0);
      for (const { name } of runs) expect(resultOf(name).total).toBe(QUERIES);
    },
  );
});

function resultOf(run: string): { readonly total: number } {
  return JSON.parse(readFileSync(join(workload.out, run, 'result.json'), 'utf8')) as { total: number };
}

const told = (ms: readonly number[]) => ({ of: ms.length, median: middle(ms), most: Math.max(...ms) });
const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const nowMiB = (pid: number | undefined): number => memoryOf(pid, 'VmRSS');
const peakMiB = (pid: number | undefined): number => memoryOf(pid, 'VmHWM');

/** 0 when it has ended. */
function memoryOf(pid: number | undefined, field: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / MIB);
  } catch {
    return 0;
  }
}
