// The judge's figures, measured on the built judge: speed in process and through the pool, latency, hostile
// input, hangs, memory, cold start, agreement on generated pairs.
//   npm run build && npx vitest bench test/bench/judge.bench.ts

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { bench, describe } from 'vitest';
import type * as JudgeModule from '../../environments/math/judge.ts';
import type * as EnvironmentModule from '../../environments/math/math-environment.ts';
import { generatePairs } from '../environments/generate-pairs.ts';
import { HOSTILE } from '../environments/hostile.ts';

const built = new URL('../../dist/environments/math/', import.meta.url).href;
const { judgeMath } = (await import(`${built}judge.js`)) as typeof JudgeModule;
const { createMathJudge } = (await import(`${built}math-environment.js`)) as typeof EnvironmentModule;
const PAIRS = Number(process.env['JUDGE_PAIRS'] ?? 10_000);
const SEED = 1;

interface Pair {
  readonly solutions: readonly string[];
  readonly answer: string;
}

const short = readFileSync(new URL('../environments/math-pairs.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair);
const thought = 'We add 12 and 30, so $x = 42$ and the sum of the parts is $\\frac{84}{2}$. Let me check that again. ';
const long = Array.from({ length: 160 }, (_, n) => ({
  answer: `${thought.repeat(40 + (n % 90))}Therefore the answer is \\boxed{${n % 3 ? '' : '\\frac{84}{2}+'}${n}}.`,
  solutions: [String(n)],
}));

const round = (n: number): number => Math.round(n * 100) / 100;
const figures: Record<string, string | number> = {};

function inProcess(name: string, set: readonly Pair[], rounds: number): void {
  for (let k = 0; k < 3; k++) for (const { answer, solutions } of set) judgeMath(answer, solutions);
  const times: number[] = [];
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (let k = 0; k < rounds; k++)
    for (const { answer, solutions } of set) {
      const start = performance.now();
      judgeMath(answer, solutions);
      times.push(performance.now() - start);
    }
  const seconds = (performance.now() - began) / 1000;
  const used = process.cpuUsage(cpu);
  times.sort((a, b) => a - b);
  const at = (share: number): number => round(times[Math.floor(times.length * share)] ?? 0);
  figures[`${name}: pairs/s`] = Math.round(times.length / seconds);
  figures[`${name}: pairs per CPU second`] = Math.round(times.length / ((used.user + used.system) / 1e6));
  figures[`${name}: median / p99 / p99.9 ms`] = `${at(0.5)} / ${at(0.99)} / ${at(0.999)}`;
}

/** A child's code is compiled as it judges, so a pool grows faster for its first seconds: both rates are shown. */
async function throughPool(name: string, batch: number, inFlight: number): Promise<void> {
  const judge = createMathJudge({ children: 2, batch });
  let asked = 0;
  const lane = async (until: number): Promise<void> => {
    while (asked < until) {
      const { answer, solutions } = short[asked++ % short.length] as Pair;
      await judge.judge(answer, solutions);
    }
  };
  const rate = async (pairs: number): Promise<number> => {
    const [until, began] = [asked + pairs, performance.now()];
    await Promise.all(Array.from({ length: inFlight }, () => lane(until)));
    return Math.round(pairs / ((performance.now() - began) / 1000));
  };
  await rate(1_000);
  figures[`${name}: pairs/s, the first 20,000`] = await rate(20_000);
  await rate(40_000);
  figures[`${name}: pairs/s, from 60,000 on`] = await rate(60_000);
  judge.close();
}

function hostile(): void {
  const before = process.memoryUsage().rss;
  let worst = { name: '', ms: 0 };
  for (const { name, answer, solution } of HOSTILE)
    for (const [a, s] of [
      [answer, solution],
      [solution, answer],
    ] as const) {
      const start = performance.now();
      judgeMath(a, [s]);
      const ms = performance.now() - start;
      if (ms > worst.ms) worst = { name, ms };
    }
  figures['hostile: texts'] = HOSTILE.length * 2;
  figures['hostile: worst ms'] = `${round(worst.ms)} (${worst.name})`;
  figures['hostile: memory growth MB'] = Math.round((process.memoryUsage().rss - before) / 2 ** 20);
}

async function hang(): Promise<void> {
  const entry = new URL('../environments/scripted-child.mjs', import.meta.url).pathname;
  const limitMs = 500;
  const judge = createMathJudge({ entry, children: 2, limitMs });
  await Promise.all(Array.from({ length: 64 }, (_, n) => judge.judge(String(n), [])));
  const start = performance.now();
  // It stands still twice, the second time alone, and is our error then.
  const stuck = judge
    .judge('hang', [])
    .catch(() => undefined)
    .then(() => performance.now() - start);
  const others = Array.from({ length: 200 }, (_, n) =>
    judge.judge(String(n), []).then(() => performance.now() - start),
  );
  figures['hang: slowest other call ms'] = round(Math.max(...(await Promise.all(others))));
  figures['hang: ended after twice its limit by ms'] = round((await stuck) - 2 * limitMs);
  const again = performance.now();
  await Promise.all(Array.from({ length: 64 }, (_, n) => judge.judge(String(n), [])));
  figures['hang: next 64 calls ms'] = round(performance.now() - again);
  judge.close();
}

async function coldStart(): Promise<void> {
  const times: number[] = [];
  let memory = 0;
  for (let k = 0; k < 9; k++) {
    const start = performance.now();
    const child = spawn(process.execPath, [new URL('pool/child.js', built).pathname], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
    });
    await once(child.stdout, 'data');
    times.push(performance.now() - start);
    child.stdin.write(`${JSON.stringify({ answer: '\\boxed{\\sqrt{8}}', solutions: ['2\\sqrt2'] })}\n`);
    await once(child.stdout, 'data');
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    memory = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  times.sort((a, b) => a - b);
  figures['child: cold start ms (median)'] = round(times[4] ?? 0);
  figures['child: memory MB'] = round(memory);
}

function agreement(): void {
  const found = { right: 0, missed: 0, undecided: 0, falseYes: 0 };
  for (const { solution, equal, near } of generatePairs(SEED, PAIRS)) {
    const { verdict } = judgeMath(`\\boxed{${equal}}`, [solution]);
    if (verdict === 'right') found.right++;
    else if (verdict === 'wrong') found.missed++;
    else found.undecided++;
    if (judgeMath(`\\boxed{${near}}`, [solution]).verdict === 'right') found.falseYes++;
  }
  figures['generated: equal pairs found'] =
    `${found.right} of ${PAIRS} (${found.missed} wrong, ${found.undecided} undecided)`;
  figures['generated: near misses taken'] = `${found.falseYes} of ${PAIRS}`;
}

inProcess('short answers', short, 30);
inProcess('long answers', long, 60);
await throughPool('pool of 2, one a message', 1, 8);
await throughPool('pool of 2, batches of 32', 32, 256);
hostile();
await hang();
await coldStart();
agreement();
console.table(figures);

describe('judge', () => {
  bench('a short answer', () => {
    judgeMath('So \\boxed{\\frac{1}{2}+x}.', ['x + 0.5']);
  });
});
