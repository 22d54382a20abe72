// The readers of a run's records, each a process of its own: `check`, `export` and `stats` of 2,400 rollouts of five turns, which
// the shipped model plays first; and the rows of EVERTURN_BENCH_ENDED short ended rollouts (`100000,1000000`). The runs stay in
// EVERTURN_BENCH_OUT, if it is named, for the next time. EVERTURN_BENCH_AGAINST is another built checkout, which reads the
// same in turn, so that whatever else the machine does hits both.
//   npm run build && npx vitest bench --run --project near test/bench/records.bench.ts

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench } from 'vitest';
import { RUN } from '../records/play.ts';
import { endedRun } from './ended-rig.ts';

const HERE = join(import.meta.dirname, '../..');
const CHECKOUTS = [HERE, process.env['EVERTURN_BENCH_AGAINST'] ?? []].flat();
const KEPT = process.env['EVERTURN_BENCH_OUT'];
const ROUNDS = Number(process.env['EVERTURN_BENCH_ROUNDS'] ?? 3);
const ENDED = (process.env['EVERTURN_BENCH_ENDED'] ?? '').split(',').filter(Boolean).map(Number);
const SAMPLES = 40;

/** Written at the end of a process: its processor time is that of all its threads. */
const TELL = `import{isMainThread}from'node:worker_threads';import{writeFileSync}from'node:fs';if(isMainThread)process.on('exit',()=>writeFileSync(process.env.BENCH_TOLD,JSON.stringify(process.resourceUsage())))`;

interface Read {
  readonly seconds: number;
  readonly cpu: number;
  readonly peakMb: number;
}

function read(checkout: string, out: string, args: readonly string[]): Read {
  const told = join(out, '.told');
  const env = { ...process.env, EVERTURN_HOME: join(out, 'home'), BENCH_TOLD: told };
  const began = performance.now();
  const command = [`--import=data:text/javascript,${encodeURIComponent(TELL)}`, join(checkout, 'dist/cli/index.js')];
  execFileSync(process.execPath, [...command, ...args], { cwd: out, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const seconds = (performance.now() - began) / 1000;
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(told, 'utf8')) as NodeJS.ResourceUsage;
  return { seconds, cpu: (userCPUTime + systemCPUTime) / 1e6, peakMb: maxRSS / 1024 };
}

/** Played once, with a local service of its own. */
function playRun(out: string): string {
  if (existsSync(join(out, 'runs', 'played', 'result.json'))) return 'played';
  const play = ['run', join(HERE, 'examples/arithmetic.jsonl'), '--name', 'played', '--max-concurrent', '64'];
  read(HERE, out, [...play, '--samples', String(SAMPLES), '--num-turns', '5', '--seed', '7']);
  read(HERE, out, ['down']);
  return 'played';
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

function compare(name: string, readOf: (checkout: string) => Read): void {
  const rounds = Array.from({ length: ROUNDS }, () => CHECKOUTS.map(readOf));
  const of = (place: number, what: keyof Read) => median(rounds.map((round) => round[place]![what]));
  for (const [place, checkout] of CHECKOUTS.entries()) {
    const [seconds, cpu, peakMb] = [of(place, 'seconds'), of(place, 'cpu'), of(place, 'peakMb')];
    console.log(
      `${name}: ${seconds.toFixed(2)} s, ${cpu.toFixed(2)} s of processors, ${peakMb.toFixed(0)} MB (${checkout})`,
    );
  }
  if (CHECKOUTS.length > 1) {
    const ratios = rounds.map(([here, other]) => other!.cpu / here!.cpu);
    console.log(`${name}: the other takes ${median(ratios).toFixed(2)} x the processor time`);
  }
}

async function readRows(out: string, rollouts: number): Promise<void> {
  const runs = await endedRun(out, rollouts);
  for (const checkout of CHECKOUTS) {
    const args = [join(HERE, 'test/bench/read-rows.mjs'), checkout, join(runs, RUN)];
    console.log(`rows: ${execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()} (${checkout})`);
  }
}

bench(
  'readers of records',
  async () => {
    const out = KEPT ?? mkdtempSync(join(tmpdir(), 'everturn-records-bench-'));
    try {
      const run = playRun(out);
      compare('check', (checkout) => read(checkout, out, ['check', run]));
      const to = ['--to', join(out, 'exported.jsonl'), '--overwrite'];
      compare('export', (checkout) => read(checkout, out, ['export', run, '--format', 'areal', ...to]));
      compare('stats', (checkout) => read(checkout, out, ['stats', run]));
      for (const rollouts of ENDED) await readRows(out, rollouts);
    } finally {
      if (KEPT === undefined) rmSync(out, { recursive: true, force: true });
    }
  },
  { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 },
);
