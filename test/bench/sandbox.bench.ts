// Programs per second of the code judge, against the least that anybody can pay: bubblewrap around an empty Python,
// started from the same process, as many at once. Both alternate, so that whatever else the machine does hits both;
// the ratio of the medians counts. Then the storms: every attack, every cheat, every honest program.
//   npx vitest bench --run test/bench/sandbox.bench.ts      EVERTURN_BENCH_RUNS=50 for the attacks' full number

import { spawn } from 'node:child_process';
import { bench } from 'vitest';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import type { Judge } from '../../environments/environment.ts';
import { queryOf } from '../contract/environment.ts';
import { ATTACKS } from '../environments/code-attacks.ts';
import { CALL_CHEATS, CALLED, PRINTED } from '../environments/code-cheats.ts';
import { EXCUSES, PRINT_CHEATS, ROUGH, ROUGH_CHEATS } from '../environments/code-print-cheats.ts';
import { HONEST } from '../environments/code-honest.ts';
import { createRig } from '../environments/code-rig.ts';

const AT_ONCE = 2;
const PROGRAMS = 60;
const ROUNDS = 7;
const RUNS = Number(process.env['EVERTURN_BENCH_RUNS'] ?? 3);

const once = { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 };
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const quantile = (values: number[], q: number) => values.toSorted((a, b) => a - b)[Math.floor(values.length * q)]!;
const fence = (program: string) => `\`\`\`python\n${program}\n\`\`\``;
const signal = new AbortController().signal;

/** `work` for every item, AT_ONCE at a time; how long each took. */
async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = [];
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const startedAt = performance.now();
      await work(item);
      tookMs.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return tookMs;
}

const BARE = [
  ...[
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    '--ro-bind',
    '/usr',
    '/usr',
    '--symlink',
    'usr/lib',
    '/lib',
  ],
  ...[
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '/usr/bin/python3',
    '-I',
    '-S',
    '-c',
    'pass',
  ],
];

function bare(): Promise<void> {
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn('bwrap', BARE, { stdio: 'ignore', ...user });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`bwrap ended with ${code}`))));
  });
}

async function perSecond(work: (i: number) => Promise<unknown>): Promise<{ rate: number; tookMs: number[] }> {
  const startedAt = performance.now();
  const tookMs = await inLanes(
    Array.from({ length: PROGRAMS }, (_, i) => i),
    work,
  );
  return { rate: (PROGRAMS * 1000) / (performance.now() - startedAt), tookMs };
}

async function speed(environment: Judge, name: string, inputOutput: object, program: string): Promise<void> {
  const query = queryOf('code', { inputOutput: inputOutput as never });
  const judge = async () => {
    const { verdict, reason } = await environment.judge(query, fence(program), { signal });
    if (verdict !== 'right') throw new Error(reason);
  };
  await perSecond(judge);
  const figures = { ours: [] as number[], bare: [] as number[], tookMs: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const { rate, tookMs } = await perSecond(judge);
    figures.ours.push(rate);
    figures.tookMs.push(...tookMs);
    figures.bare.push((await perSecond(bare)).rate);
  }
  const ratios = figures.ours.map((rate, i) => rate / figures.bare[i]!);
  console.log(
    `${name}: ${median(figures.ours).toFixed(0)} programs/s (best ${Math.max(...figures.ours).toFixed(0)}), ` +
      `bare ${median(figures.bare).toFixed(0)}, ratio ${median(ratios).toFixed(2)}; ` +
      `p50 ${median(figures.tookMs).toFixed(0)} ms, p95 ${quantile(figures.tookMs, 0.95).toFixed(0)} ms`,
  );
}

bench(
  'programs per second',
  async () => {
    const environment = await createCodeEnvironment({ slots: AT_ONCE });
    const sum = 'n = int(input())\nprint(sum(map(int, input().split())))';
    await speed(environment, 'printed', { inputs: ['3\n1 2 3\n'], outputs: ['6\n'] }, sum);
    const method = 'class Solution:\n    def total(self, xs: List[int]) -> int:\n        return sum(xs)';
    await speed(environment, 'called', { inputs: ['[1, 2, 3]'], outputs: ['6'], fn_name: 'total' }, method);
    await environment.close();
  },
  once,
);

bench(
  'attacks',
  async () => {
    const rig = await createRig();
    let [runs, escapes, left, trouble] = [0, 0, 0, 0];
    await inLanes(
      ATTACKS.flatMap((attack) => Array.from({ length: RUNS }, () => attack)),
      async ({ name, program }) => {
        const attack = await rig.attack(program).catch((error: unknown) => console.log(name, error));
        runs++;
        if (!attack) return trouble++;
        if (attack.ran.output.includes('ESCAPED')) {
          console.log(name, attack.ran.output.toString());
          escapes++;
        }
        return (left += attack.left.length);
      },
    );
    console.log(
      `${ATTACKS.length} attacks, ${runs} runs: ${escapes} escapes, ${left} processes left, ` +
        `${rig.connections()} connections, ${trouble} not run`,
    );
    rig.close();
  },
  once,
);

bench(
  'cheats and honest programs',
  async () => {
    const environment = await createCodeEnvironment({ slots: AT_ONCE });
    const judge = (inputOutput: object, program: string) =>
      environment.judge(queryOf('code', { inputOutput: inputOutput as never }), fence(program), { signal });
    const cheats = [
      ...CALL_CHEATS.map((cheat) => ({ ...cheat, io: CALLED })),
      ...[...PRINT_CHEATS, ...EXCUSES].map((cheat) => ({ ...cheat, io: PRINTED })),
      ...ROUGH_CHEATS.map((cheat) => ({ ...cheat, io: ROUGH })),
    ];
    let [rewarded, refused] = [0, 0];
    await inLanes(cheats, async ({ io, program }) => {
      if ((await judge(io, program)).verdict !== 'wrong') rewarded++;
    });
    await inLanes(HONEST, async ({ io, program }) => {
      if ((await judge(io, program)).verdict !== 'right') refused++;
    });
    console.log(`${cheats.length} cheats: ${rewarded} rewarded; ${HONEST.length} honest programs: ${refused} refused`);
    await environment.close();
  },
  once,
);
