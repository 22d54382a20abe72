// The promise: rollouts over several workers of which one is killed every other second, in every phase of their work,
// and each turn is in the store once, logged once, and asked for again only where a kill took its answer. What was
// played is byte for byte what an undisturbed run plays.

import { describe, expect, test } from 'vitest';
import { canonical, checkRun } from './checker.ts';
import { killWorkers } from './nemesis.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL } from './size.ts';
import { type RunOptions, useWorkload, type Workload } from './workload.ts';

const SLOTS = 32;
/** With a commit one for each phase: each kill costs the start of a worker. */
const KILLS = FULL ? 200 : 5;
const PER_PHASE = FULL ? 20 : 1;
const RUN: Omit<RunOptions, 'name'> = { rollouts: FULL ? 500 : 16, turns: 4, maxConcurrent: FULL ? 16 : 5 };

let workload: Workload;
useWorkload(
  {
    file: import.meta.filename,
    workers: FULL ? 4 : 2,
    slots: SLOTS,
    model: { kind: 'sglang', latencyMs: FULL ? 2500 : 800 },
  },
  (opened) => (workload = opened),
);

describe(`${RUN.rollouts} rollouts × ${RUN.turns} turns`, () => {
  test(
    `survive ${KILLS} kill -9 of their workers: each turn once, and as undisturbed`,
    { timeout: FULL ? 3_600_000 : 900_000 },
    async () => {
      const whole = RUN.rollouts * RUN.turns;
      // How many are in flight changes no answer.
      await workload.start({ ...RUN, name: 'calm', ...(!FULL && { maxConcurrent: RUN.rollouts }) });
      const calmMs = await workload.untilEnded('calm', 1_200_000);
      const calm = await checkRun(workload, { ...RUN, name: 'calm', histories: false });
      expect(calm.problems).toEqual([]);
      expect(calm.asked).toBe(whole);

      let over = false;
      await workload.start({ ...RUN, name: 'storm' });
      const ended = workload.untilEnded('storm', 2_400_000).finally(() => (over = true));
      const gapMs = FULL ? 2000 : 200;
      const nemesis = killWorkers(workload, {
        random: randomOf('nemesis'),
        kills: KILLS,
        perPhase: PER_PHASE,
        gapMs,
        over: () => over,
      });
      const stormMs = await ended;
      const { blows, hits, missed } = await nemesis;
      const storm = await checkRun(workload, { ...RUN, name: 'storm' });
      const { turns, asked, duplicates, askedAgain, attemptsTold } = storm;
      console.log(
        JSON.stringify({
          ...{ seed: SEED, calmMs, stormMs, ratio: stormMs / calmMs, kills: blows.length, hits },
          ...{ turns, asked, duplicates, askedAgain, attemptsTold },
        }),
      );
      expect(storm.problems).toEqual([]);
      expect(turns).toBe(whole);
      expect(askedAgain).toBe(0);
      expect(duplicates).toBeLessThanOrEqual(blows.length * SLOTS);
      expect(blows.length).toBeGreaterThanOrEqual(KILLS);
      expect(missed).toEqual([]);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
      expect(canonical(storm.rollouts)).toBe(canonical(calm.rollouts));
      if (FULL) expect(stormMs).toBeLessThan(3 * calmMs);
    },
  );
});
