// 2,000 requests in flight in one worker: two collections of 1,000 rollouts each, whose first requests are answered
// only when all 2,000 are there. Says what failed (nothing must) and the memory that it took.
//   npm run build && npx vitest bench --run test/bench/overhead-in-flight.bench.ts

import { tmpdir } from 'node:os';
import { bench } from 'vitest';
import { openRig } from './overhead-rig.ts';

const COLLECTIONS = 2;
const EACH = Number(process.env['EVERTURN_BENCH_EACH'] ?? 1000);
const TURNS = 2;

bench(
  '2,000 requests in flight in one worker',
  async () => {
    const all = COLLECTIONS * EACH;
    const out = process.env['EVERTURN_BENCH_OUT'] ?? tmpdir();
    const rig = await openRig({ turns: TURNS, queries: EACH, slots: all, delayMs: 200, hold: all, out });
    try {
      const memory = () => {
        const { now, peak } = rig.memoryMiB('worker');
        return `worker ${now.toFixed(0)} MiB, at most ${peak.toFixed(0)}`;
      };
      console.log(`idle: ${memory()}`);
      const names = Array.from({ length: COLLECTIONS }, (_, i) => `flight-${i}`);
      const played = await Promise.all(names.map((name) => rig.play(name, 'whole', EACH)));
      for (const { result, seconds, cpu } of played) {
        const { outcomes, reasons, turns } = result.counts;
        console.log(JSON.stringify({ outcomes, reasons, turns, seconds, cpu }));
        if (outcomes.complete !== EACH) throw new Error(`${EACH - outcomes.complete} rollouts are not complete`);
      }
      console.log(`${await rig.mostInFlight()} requests in flight at most; ${memory()}`);
    } finally {
      await rig.close();
    }
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
