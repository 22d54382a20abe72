// The promise: workers whose clocks jump by an hour or a day, back and forth, under a run with a bad model server that
// is also away for a while, end it as any others: no turn times out early, nothing waits for a moment that was moved
// away, and no duration is negative.

import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { checkRun } from './checker.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { type RunOptions, useWorkload, type Workload } from './workload.ts';

const HOUR_MS = 3_600_000;
const JUMPS = [-HOUR_MS, HOUR_MS, -24 * HOUR_MS, 0];
const EVERY_MS = FULL ? 5000 : 1000;
const RUN: RunOptions = { name: 'clock', rollouts: sized(500), turns: 4, maxConcurrent: 32 };
const PRELOAD = join(import.meta.dirname, 'shifted-clock.mjs');
/** No answer, and no wait that a fault may cost, is as long. */
const LONG_MS = 120_000;

const clock = join(tmpdir(), `everturn-clock-${process.pid}`);
// After the workload's end: hooks run backwards.
afterAll(() => rmSync(clock, { force: true }));
let workload: Workload;
useWorkload(
  {
    ...{ file: import.meta.filename, workers: 2, slots: 32 },
    model: { kind: 'sglang', latencyMs: 400, faultRate: 0.05 },
    env: { NODE_OPTIONS: `--import ${PRELOAD}`, EVERTURN_CLOCK: clock },
  },
  (opened) => (workload = opened),
);

describe('a run under clocks that jump', () => {
  test(`ends all of ${RUN.rollouts} rollouts, none late and none early`, { timeout: 600_000 }, async () => {
    const random = randomOf('clock');
    await workload.start({ ...RUN, flags: ['--request-timeout-seconds', '5'] });
    let over = false;
    const ended = workload.untilEnded(RUN.name, 300_000).finally(() => (over = true));
    const jumps: number[] = [];
    const jumping = (async () => {
      while (!over) {
        const jump = JUMPS[Math.floor(random() * JUMPS.length)]!;
        writeFileSync(clock, String(jump));
        jumps.push(jump);
        await sleep(EVERY_MS);
        if (jumps.length !== 3) continue;
        // Long enough for the servers' circuits to open, with a clock that is about to jump.
        await workload.model.stop();
        await sleep(1500);
        workload.model.start();
        await workload.model.ready();
      }
    })();
    const tookMs = await ended;
    await jumping;

    const { problems, turns, askedAgain, rollouts } = await checkRun(workload, {
      ...RUN,
      clockSkewSeconds: 25 * 3600,
    });
    const played = [...rollouts.values()].flatMap((rollout) => rollout.turns);
    const durations = played.map((turn) => Number(turn['finishedAt']) - Number(turn['startedAt']));
    const judged = [...rollouts.values()].flatMap(({ verdicts }) => verdicts.map(({ tookMs }) => Number(tookMs)));
    const wrongTimes = played.filter((turn) => Math.abs(Number(turn['startedAt']) - Date.now()) > HOUR_MS / 2).length;
    const givenUp = workload.model.asks().filter(({ how }) => how === 'gone').length;
    console.log(JSON.stringify({ seed: SEED, tookMs, givenUp, jumps: jumps.length, turns, wrongTimes }));
    expect(problems).toEqual([]);
    expect(turns).toBe(RUN.rollouts * RUN.turns);
    expect(askedAgain).toBe(0);
    // Nobody stopped waiting before an answer came: none timed out early.
    expect(givenUp).toBe(0);
    expect(wrongTimes).toBeGreaterThan(0);
    expect(durations.filter((ms) => !(ms >= 0))).toEqual([]);
    expect(judged.filter((ms) => !(ms >= 0 && ms < LONG_MS))).toEqual([]);
    expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
  });
});
