// The promise of a cluster: on a real Temporal server with PostgreSQL, mutual TLS and its default limits, rollouts survive
// kills of workers, of the server and of its database, and a worker whose network is silent for longer than anybody
// waits: each turn once, as undisturbed.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { canonical, checkRun } from '../../chaos/checker.ts';
import { kill } from '../../chaos/nemesis.ts';
import { randomOf, SEED } from '../../chaos/seed.ts';
import type { RunOptions } from '../../chaos/workload.ts';
import { type ClusterRig, useCluster } from './cluster-rig.ts';

const ROLLOUTS = Number(process.env['EVERTURN_TEST_ROLLOUTS'] ?? 500);
const BLOWS = Number(process.env['EVERTURN_TEST_BLOWS'] ?? 60);
const RUN: Omit<RunOptions, 'name'> = { rollouts: ROLLOUTS, turns: 4, maxConcurrent: 16 };
const WORKERS = 4;
const SLOTS = 32;
/** A heartbeat may be missing for 10 s. */
const CUT_MS = 25_000;
const GAP_MS = 2500;

let rig: ClusterRig;
useCluster(
  { file: import.meta.filename, workers: WORKERS, slots: SLOTS, latencyMs: 2500, cutOff: WORKERS - 1 },
  (opened) => (rig = opened),
);

type Strike = () => Promise<boolean>;

/** Until so many blows have hit, each kind in turn at random; resolves to how many each kind had. */
async function torment(over: () => boolean): Promise<Record<string, number>> {
  const { workload, temporal, postgres, network } = rig;
  const random = randomOf('nemesis');
  const tally: Record<string, number> = {};
  let cut: Promise<void> | undefined;
  const strikes: Readonly<Record<string, Strike>> = {
    async worker() {
      const pids = workload.workers.flatMap((worker) => worker.pid() ?? []);
      const pid = pids[Math.floor(random() * pids.length)];
      return pid !== undefined && (await kill(pid));
    },
    server: async () => temporal.kill(4000 * random()),
    database: async () => postgres.kill(4000 * random()),
    async network() {
      if (cut) return false;
      network.cut();
      cut = sleep(CUT_MS).then(() => {
        network.mend();
        cut = undefined;
      });
      return true;
    },
  };
  // Drawn from a deck, so that none is left out.
  const deck = Array.from({ length: BLOWS }, (_, i) =>
    i % 10 === 9 ? 'network' : ['worker', 'server', 'database'][i % 3]!,
  );
  for (let hit = 0; !over() && hit < BLOWS;) {
    await sleep(GAP_MS * (0.5 + random()));
    if (over()) break;
    const at = Math.floor(random() * deck.length);
    const name = deck[at]!;
    if (!(await strikes[name]!())) continue;
    deck.splice(at, 1);
    tally[name] = (tally[name] ?? 0) + 1;
    hit++;
  }
  await cut;
  return tally;
}

describe(`${ROLLOUTS} rollouts × ${RUN.turns} turns on a Temporal cluster`, () => {
  test(
    `survive ${BLOWS} blows on workers, server, database and network: each turn once, and as undisturbed`,
    { timeout: 7_200_000 },
    async () => {
      const { workload, temporal, postgres } = rig;
      const whole = RUN.rollouts * RUN.turns;
      await workload.start({ ...RUN, name: 'calm' });
      const calmMs = await workload.untilEnded('calm', 3_600_000);
      const calm = await checkRun(workload, { ...RUN, name: 'calm' });
      expect(calm.problems).toEqual([]);
      expect(calm.asked).toBe(whole);

      let over = false;
      await workload.start({ ...RUN, name: 'storm' });
      const ended = workload.untilEnded('storm', 3_600_000).finally(() => (over = true));
      const nemesis = torment(() => over);
      const stormMs = await ended;
      const blows = await nemesis;
      const storm = await checkRun(workload, { ...RUN, name: 'storm' });
      const { turns, asked, duplicates, askedAgain, attemptsTold } = storm;
      console.log(
        JSON.stringify({
          ...{ seed: SEED, calmMs, stormMs, blows, lives: { server: temporal.lives(), database: postgres.lives() } },
          ...{ turns, asked, duplicates, askedAgain, attemptsTold },
        }),
      );
      expect(storm.problems).toEqual([]);
      expect(turns).toBe(whole);
      expect(askedAgain).toBe(0);
      expect(Object.values(blows).reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(BLOWS);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
      expect(canonical(storm.rollouts)).toBe(canonical(calm.rollouts));
    },
  );
});
