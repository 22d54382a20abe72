// Everything else that can be killed or paused: the Temporal server, the command line while it submits, judges in mid
// verdict, the model server in mid answer, and whole workers frozen for longer than anybody waits. Each turn is there
// once, no step by hand.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { canonical, checkRun } from './checker.ts';
import { commandOf, descendants } from '../support/processes.ts';
import { kill, pause } from './nemesis.ts';
import { type Random, randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { type RunOptions, useWorkload, type Workload } from './workload.ts';

const SLOTS = 64;
let workload: Workload;
useWorkload(
  {
    file: import.meta.filename,
    workers: 2,
    slots: SLOTS,
    model: { kind: 'vllm', latencyMs: FULL ? 2000 : 600 },
  },
  (opened) => (workload = opened),
);

interface Blows {
  readonly count: number;
  readonly gapMs: number;
  readonly random: Random;
  /** One blow; false where it hit nobody. */
  readonly strike: () => Promise<boolean>;
}

/** Plays a run and strikes until it is over or all blows fell; resolves to how many hit. */
async function under(run: RunOptions, { count, gapMs, random, strike }: Blows): Promise<number> {
  let over = false;
  await workload.start(run);
  const ended = workload.untilEnded(run.name, 1_800_000).finally(() => (over = true));
  let hit = 0;
  while (!over && hit < count) {
    await sleep(gapMs * (0.5 + random()));
    if (!over && (await strike())) hit++;
  }
  await ended;
  return hit;
}

describe('a run whose processes are killed', () => {
  test('survives its Temporal server, killed again and again', { timeout: 1_800_000 }, async () => {
    const kills = sized(20);
    const run = { name: 'served', rollouts: sized(500), turns: 4, maxConcurrent: 64 };
    const hit = await under(run, {
      ...{ count: kills, gapMs: FULL ? 3000 : 300, random: randomOf('server') },
      async strike() {
        const pid = workload.temporal.pid();
        return pid !== undefined && (await kill(pid));
      },
    });
    const { problems, turns, asked, duplicates, askedAgain } = await checkRun(workload, run);
    console.log(JSON.stringify({ seed: SEED, kills: hit, turns, asked, duplicates, askedAgain }));
    expect(problems).toEqual([]);
    expect(turns).toBe(run.rollouts * run.turns);
    expect(hit).toBeGreaterThanOrEqual(kills);
    expect(duplicates).toBeLessThanOrEqual(kills * SLOTS * workload.workers.length);
  });

  test(
    'a command line killed while it submits, and repeated each time, submits once',
    { timeout: 900_000 },
    async () => {
      const kills = sized(20);
      const run = { name: 'submitted', rollouts: sized(2000), turns: 1, maxConcurrent: 100 };
      const random = randomOf('cli');
      for (let i = 0; i < kills; i++) {
        const running = workload.everturn.start(...workload.command(run));
        await sleep(random() * 3000);
        running.child.kill('SIGKILL');
        await running.ended;
      }
      const last = await workload.everturn.run(...workload.command(run));
      const { problems, asked, duplicates, rollouts } = await checkRun(workload, { ...run, histories: false });
      const { client } = workload.session;
      const { count } = await client.workflow.count("EverturnRun = 'submitted' AND WorkflowType = 'rollout'");
      console.log(JSON.stringify({ seed: SEED, kills, rollouts: rollouts.size, workflows: count, asked, duplicates }));
      expect(last.code, last.stderr).toBe(0);
      expect(problems).toEqual([]);
      expect(rollouts.size).toBe(run.rollouts);
      expect(count).toBe(run.rollouts);
      expect(duplicates).toBe(0);
    },
  );

  test('survives kills of the embedded model, each answer as it would have been', { timeout: 900_000 }, async () => {
    const kills = sized(20);
    // The real one, in a child of each worker.
    const run = { rollouts: sized(500), turns: 3, maxConcurrent: 32, flags: ['--model', 'tiny'] };
    await workload.start({ ...run, name: 'calm' });
    const calmMs = await workload.untilEnded('calm', 600_000);
    const random = randomOf('model');
    const begun = Date.now();
    const hit = await under(
      { ...run, name: 'embedded' },
      {
        ...{ count: kills, gapMs: FULL ? 1500 : 800, random },
        async strike() {
          const children = workload.workers.flatMap((worker) => descendants(worker.pid() ?? 0));
          const models = children.filter(isModel);
          return killed(models[Math.floor(random() * models.length)]);
        },
      },
    );
    const tookMs = Date.now() - begun;
    const calm = await checkRun(workload, { ...run, name: 'calm', counted: false, histories: false });
    const stormy = { ...run, name: 'embedded', counted: false, histories: false };
    const { problems, turns, attemptsTold, rollouts } = await checkRun(workload, stormy);
    const lost = lostAnswers();
    console.log(JSON.stringify({ seed: SEED, kills: hit, lost, turns, attemptsTold, calmMs, tookMs }));
    expect(problems).toEqual([]);
    expect(hit).toBeGreaterThanOrEqual(kills);
    expect(turns).toBe(calm.turns);
    // Of a few kills all may meet a model that has nothing to do.
    expect(attemptsTold > 0).toBe(lost > 0);
    if (FULL) expect(lost).toBeGreaterThan(0);
    expect(canonical(rollouts)).toBe(canonical(calm.rollouts));
  });

  test('survives kills and pauses of everybody at once', { timeout: 1_800_000 }, async () => {
    const blows = sized(100);
    const run = { name: 'everybody', rollouts: sized(300), turns: 4, maxConcurrent: 64 };
    const random = randomOf('everybody');
    const tally: Record<string, number> = {};
    const frozen: Promise<void>[] = [];
    const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
    const workers = () => workload.workers.flatMap((worker) => worker.pid() ?? []);
    const strikes: Readonly<Record<string, () => Promise<boolean>>> = {
      worker: () => killed(pick(workers())),
      judge: () => killed(pick(workers().flatMap(descendants))),
      'model server': () => killed(workload.model.pid()),
      'Temporal server': () => killed(workload.temporal.pid()),
      async freeze() {
        const pid = pick([...workers(), workload.model.pid()]);
        if (pid === undefined) return false;
        // From a hiccup to longer than a heartbeat may be missing.
        frozen.push(pause(pid, 100 * (FULL ? 900 : 150) ** random()));
        return true;
      },
    };
    const hit = await under(run, {
      ...{ count: blows, gapMs: FULL ? 1500 : 500, random },
      async strike() {
        const name = pick(Object.keys(strikes))!;
        const done = await strikes[name]!();
        if (done) tally[name] = (tally[name] ?? 0) + 1;
        return done;
      },
    });
    await Promise.all(frozen);
    const { problems, turns, asked, duplicates, askedAgain } = await checkRun(workload, run);
    console.log(JSON.stringify({ seed: SEED, blows: hit, tally, turns, asked, duplicates, askedAgain }));
    expect(problems).toEqual([]);
    expect(turns).toBe(run.rollouts * run.turns);
    expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
  });
});

function killed(pid: number | undefined): Promise<boolean> {
  return pid === undefined ? Promise.resolve(false) : kill(pid);
}

/** How many answers were under way where models died, as the workers' logs say. */
function lostAnswers(): number {
  const logs = workload.workers.map((_, i) => readFileSync(join(workload.folder, `worker-${i + 1}.log`), 'utf8'));
  const deaths = logs.join('\n').matchAll(/^model process: ended by .*; (\d+) requests/gm);
  return [...deaths].reduce((sum, [, requests]) => sum + Number(requests), 0);
}

/** The process in which a worker's embedded model is. */
const isModel = (pid: number): boolean => commandOf(pid).includes('everturn-model');
