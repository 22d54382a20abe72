// Turns per second through the whole system, with 1,024-token answers that take the model server no time, and what each
// process uses of the processors. EVERTURN_BENCH_OUT names the folder whose file system is measured, EVERTURN_BENCH_NODE flags
// for the worker's Node (`--cpu-prof --cpu-prof-dir=…`), EVERTURN_BENCH_AGAINST another built checkout, whose worker plays the
// same in turn, with the flags EVERTURN_BENCH_AGAINST_NODE: both alternate, so that whatever else the machine does hits both.
//   npm run build && npx vitest bench --run test/bench/overhead.bench.ts

import { tmpdir } from 'node:os';
import { bench } from 'vitest';
import { ANSWER_TOKENS, openRig, OTHER, type Played } from './overhead-rig.ts';

const ROUNDS = Number(process.env['EVERTURN_BENCH_ROUNDS'] ?? 5);
const QUERIES = Number(process.env['EVERTURN_BENCH_QUERIES'] ?? 60);
const TURNS = 5;
const IN_FLIGHT = 64;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const summary = (values: number[]) =>
  `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;

bench(
  'the whole system',
  async () => {
    const out = process.env['EVERTURN_BENCH_OUT'] ?? tmpdir();
    const rig = await openRig({ turns: TURNS, queries: QUERIES, slots: IN_FLIGHT, delayMs: 0, out });
    const turns = QUERIES * TURNS;
    const perTurn = (seconds: number) => ((seconds * 1000) / turns).toFixed(2);
    const show = ({ seconds, cpu }: Played) => {
      const parts = (Object.entries(cpu) as [string, number][]).map(([name, used]) => `${name} ${perTurn(used)}`);
      return `${(turns / seconds).toFixed(1)} turns/s, CPU ms per turn: ${parts.join(', ')}`;
    };
    const cpu: number[] = [];
    const others: { readonly time: number; readonly cpu: number; readonly worker: number }[] = [];
    try {
      await rig.play('warm-whole', 'whole', IN_FLIGHT);
      if (OTHER !== undefined) await rig.play('warm-other', 'other', IN_FLIGHT);
      for (let round = 0; round < ROUNDS; round++) {
        const whole = await rig.play(`whole-${round}`, 'whole', IN_FLIGHT);
        if (whole.result.counts.outcomes.complete !== QUERIES) throw new Error(JSON.stringify(whole.result));
        console.log(`whole ${show(whole)}`);
        cpu.push((whole.cpu.worker * 1000) / ((turns * ANSWER_TOKENS) / 1000));
        if (OTHER === undefined) continue;
        const other = await rig.play(`other-${round}`, 'other', IN_FLIGHT);
        console.log(`other ${show(other)}`);
        const all = (other.cpu.other + other.cpu.temporal) / (whole.cpu.worker + whole.cpu.temporal);
        const worker = other.cpu.other / whole.cpu.worker;
        others.push({ time: other.seconds / whole.seconds, cpu: all, worker });
      }
      console.log(`${out}: ${summary(cpu)} ms of worker CPU per 1,000 tokens`);
      if (OTHER === undefined) return;
      const of = (what: 'time' | 'cpu' | 'worker') => summary(others.map((one) => one[what]));
      console.log(`of ${OTHER}: turns/s ${of('time')} x, its CPU ${of('cpu')} x ours, its worker's ${of('worker')} x`);
    } finally {
      await rig.close();
    }
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
