// How much longer a run takes than a plain loop that asks the same server the same turns one after the other: answers of
// DELAY_MS (2 s), some rollouts in flight, five turns each. The loop stores and judges nothing. Both alternate.
//   npm run build && npx vitest bench --run --project near test/bench/makespan.bench.ts

import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench } from 'vitest';
import { openRig } from './overhead-rig.ts';

const DELAY_MS = Number(process.env['DELAY_MS'] ?? 2000);
const ROUNDS = Number(process.env['EVERTURN_BENCH_ROUNDS'] ?? 3);
const IN_FLIGHT = (process.env['IN_FLIGHT'] ?? '16,32').split(',').map(Number);
const TURNS = 5;
/** Rollouts that a place plays one after the other. */
const WAVES = 2;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function loop(url: string, inFlight: number): Promise<number> {
  const begun = performance.now();
  const body = JSON.stringify({ input_ids: Array.from({ length: 100 }, (_, i) => i), sampling_params: {} });
  const place = async () => {
    for (let turn = 0; turn < TURNS * WAVES; turn++)
      await (await fetch(`${url}/generate`, { method: 'POST', body })).json();
  };
  await Promise.all(Array.from({ length: inFlight }, place));
  return (performance.now() - begun) / 1000;
}

bench(
  'makespan',
  async () => {
    for (const inFlight of IN_FLIGHT) {
      const out = process.env['EVERTURN_BENCH_OUT'] ?? tmpdir();
      const queries = inFlight * WAVES;
      const rig = await openRig({ turns: TURNS, queries, slots: inFlight, delayMs: DELAY_MS, out });
      try {
        await rig.play('warm', 'whole', inFlight);
        const ratios: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const { seconds, cpu } = await rig.play(`whole-${round}`, 'whole', inFlight);
          const plain = await loop(rig.modelUrl, inFlight);
          ratios.push(seconds / plain);
          const ms = (used: number) => ((used * 1000) / (queries * TURNS)).toFixed(1);
          const added = ((seconds - plain) / (TURNS * WAVES)) * 1000;
          console.log(
            `${inFlight} in flight: ${seconds.toFixed(2)} s, loop ${plain.toFixed(2)} s, ${added.toFixed(0)} ms added to a ` +
              `turn; CPU ms per turn: worker ${ms(cpu.worker)}, temporal ${ms(cpu.temporal)}`,
          );
          await sleep(200);
        }
        console.log(`${inFlight} in flight: ${median(ratios).toFixed(3)} x the loop`);
      } finally {
        await rig.close();
      }
    }
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
