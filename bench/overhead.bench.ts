// Turns per second through the whole system, with 1,024-token answers that take the model server no time, against the
// same workflows with empty activities. Both alternate, so that whatever else the machine does hits both; the median
// of the ratios counts. EVERTURN_BENCH_OUT names the folder whose file system is measured, EVERTURN_BENCH_NODE flags
// for the worker's Node (`--cpu-prof --cpu-prof-dir=…`).
//   npm run build && npx vitest bench --run bench/overhead.bench.ts

// Two cores that do nothing else, ext4: 0.75 (0.70 to 0.76), and 14.5 ms of worker CPU per 1,000 tokens. The wanted 0.9
// is out of reach there: 8 ms of the worker and 9.5 of the server go into the workflow itself, which leaves 2 ms, and
// activities that only ask, parse and write the contract's files, without judge, hash, check or tokenizer, take 3.2:
// they reach 0.86 (0.76 to 0.93). By the profiler's samples of ours, for a turn: making, replacing and naming files 2.0,
// messages to the disk's thread 1.0, garbage collection 0.7, JSON.parse of the reply 0.3, the record's JSON and SHA-256
// 0.4. Sending those messages once an event loop's turn, or not reading a log that is shorter, changed nothing.

import { tmpdir } from 'node:os';
import { bench } from 'vitest';
import { ANSWER_TOKENS, openRig, type Played } from './overhead-rig.ts';

const ROUNDS = Number(process.env['EVERTURN_BENCH_ROUNDS'] ?? 5);
const QUERIES = Number(process.env['EVERTURN_BENCH_QUERIES'] ?? 60);
const TURNS = 5;
const IN_FLIGHT = 64;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

bench(
  'the whole system against empty activities',
  async () => {
    const out = process.env['EVERTURN_BENCH_OUT'] ?? tmpdir();
    const rig = await openRig({ turns: TURNS, queries: QUERIES, slots: IN_FLIGHT, delayMs: 0, out });
    const turns = QUERIES * TURNS;
    const perTurn = (seconds: number) => ((seconds * 1000) / turns).toFixed(2);
    const show = ({ seconds, cpu }: Played) => {
      const parts = (Object.entries(cpu) as [string, number][]).map(([name, used]) => `${name} ${perTurn(used)}`);
      return `${(turns / seconds).toFixed(1)} turns/s, CPU ms per turn: ${parts.join(', ')}`;
    };
    const ratios: number[] = [];
    const bares: number[] = [];
    const shares: number[] = [];
    const cpu: number[] = [];
    try {
      for (const which of ['whole', 'bare', 'empty'] as const) await rig.play(`warm-${which}`, which, IN_FLIGHT);
      for (let round = 0; round < ROUNDS; round++) {
        const whole = await rig.play(`whole-${round}`, 'whole', IN_FLIGHT);
        const empty = await rig.play(`empty-${round}`, 'empty', IN_FLIGHT);
        const bare = await rig.play(`bare-${round}`, 'bare', IN_FLIGHT);
        if (whole.result.counts.outcomes.complete !== QUERIES) throw new Error(JSON.stringify(whole.result));
        console.log(`whole ${show(whole)}\nbare  ${show(bare)}\nempty ${show(empty)}`);
        ratios.push(empty.seconds / whole.seconds);
        bares.push(empty.seconds / bare.seconds);
        // What the ratio is on a machine that has nothing else to do, if the processors are the limit.
        shares.push((empty.cpu.empty + empty.cpu.temporal) / (whole.cpu.worker + whole.cpu.temporal));
        cpu.push((whole.cpu.worker * 1000) / ((turns * ANSWER_TOKENS) / 1000));
      }
      const summary = (values: number[]) =>
        `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
      console.log(
        `${out}: ratio ${summary(ratios)}, of CPU ${summary(shares)}; of bare activities ${summary(bares)}; ` +
          `${summary(cpu)} ms of worker CPU per 1,000 tokens`,
      );
    } finally {
      await rig.close();
    }
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
