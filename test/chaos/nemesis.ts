// Who kills: seeded kill -9 and pauses of a workload's processes, at random moments and at phases that it still owes.
// It writes down every blow and what it fell on, from the victim's own marks after its death.

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Phase, PHASES, phasesAtDeath } from './phases.ts';
import type { Random } from './seed.ts';
import type { Workload } from './workload.ts';

export interface Blow {
  readonly at: number;
  readonly kind: 'kill' | 'pause';
  readonly victim: string;
  readonly pid: number;
  readonly aimedAt: Phase | null;
  /** Of a worker that was killed: the phases that its steps were in. */
  readonly phases: readonly Phase[];
  /** Steps that died with it. */
  readonly steps: number;
  readonly pausedMs?: number;
}

export interface Plan {
  readonly random: Random;
  /** Kills of workers. */
  readonly kills: number;
  /** Each phase is hit so often at least, or `missed` names it. */
  readonly perPhase: number;
  /** Those that it aims at; default all. */
  readonly phases?: readonly Phase[];
  /** Between two blows, on average. */
  readonly gapMs: number;
  /** True once there is nothing left to torment. */
  readonly over: () => boolean;
  /** Whether the work is far enough for one more blow after so many; default always. */
  readonly mayStrike?: (blows: number) => boolean;
}

export interface Record {
  readonly blows: readonly Blow[];
  readonly hits: Readonly<{ [phase in Phase]: number }>;
  /** Phases that were hit too seldom. */
  readonly missed: readonly Phase[];
}

const AIM_MS = 4000;

/** Kills workers until the plan is fulfilled or all is over. */
export async function killWorkers(workload: Workload, plan: Plan): Promise<Record> {
  const { random, kills, perPhase, phases: aimed = PHASES, gapMs, over, mayStrike = () => true } = plan;
  const blows: Blow[] = [];
  const hits = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as { [phase in Phase]: number };
  const owed = () => aimed.filter((phase) => hits[phase] < perPhase);
  const struck = (pid: number, aimedAt: Phase | null) => {
    const phases = phasesAtDeath(workload.marks, pid);
    for (const phase of phases.keys()) hits[phase]++;
    const steps = [...phases.values()].reduce((sum, { length }) => sum + length, 0);
    blows.push({ at: Date.now(), kind: 'kill', victim: 'worker', pid, aimedAt, phases: [...phases.keys()], steps });
  };
  while (!over() && (blows.length < kills || owed().length > 0)) {
    await sleep(-Math.log(1 - random()) * gapMs);
    while (!over() && !mayStrike(blows.length)) await sleep(500);
    if (over()) break;
    const owes = owed();
    const left = kills - blows.length;
    // Half at random, while there are enough blows left for what is owed.
    const debt = owes.reduce((sum, phase) => sum + perPhase - hits[phase], 0);
    const phase = owes[Math.floor(random() * owes.length)];
    if (phase && (random() < 0.5 || debt >= left)) {
      const pid = await aim(workload, phase, over);
      if (pid !== undefined) struck(pid, phase);
      continue;
    }
    const pids = workload.workers.flatMap((worker) => worker.pid() ?? []);
    const pid = pids[Math.floor(random() * pids.length)];
    if (pid === undefined || !(await kill(pid))) continue;
    struck(pid, null);
  }
  writeFileSync(join(workload.folder, 'blows.json'), JSON.stringify(blows, null, 1));
  return { blows, hits, missed: owed() };
}

/** The first worker that gets to that phase dies there. Undefined where none did in time. */
async function aim(workload: Workload, phase: Phase, over: () => boolean): Promise<number | undefined> {
  const { marks } = workload;
  const file = join(marks, `aim-${phase}`);
  writeFileSync(file, '');
  for (const end = Date.now() + AIM_MS; Date.now() < end && !over(); await sleep(5)) if (!existsSync(file)) break;
  rmSync(file, { force: true });
  const hit = readdirSync(marks).find((name) => name.startsWith('hit-'));
  if (!hit) return undefined;
  rmSync(join(marks, hit));
  const pid = Number(hit.slice('hit-'.length));
  await untilGone(pid);
  return pid;
}

/** kill -9. False where there was nobody any more. */
export async function kill(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
  await untilGone(pid);
  return true;
}

/** SIGSTOP, and SIGCONT after so long. */
export async function pause(pid: number, ms: number): Promise<void> {
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
  } catch {
    // It was killed meanwhile.
  }
}

async function untilGone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`)) await sleep(2);
}
