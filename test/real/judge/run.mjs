// The judge against an independent oracle: Python draws, writes and evaluates pairs; the built judge judges them.
//   npm run test:judge -- [--count 200000] [--seed 1] [--processes 2] [--record file]
// Makes a Python environment of its own in ~/.cache/everturn on its first run. Exit code 1 on any false yes, or
// when more than 0.05 % of the equal pairs are not found.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { judge } from '../../../dist/packages/judge/index.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    python: { type: 'string' },
    record: { type: 'string' },
  },
});
const PACKAGES = ['gmpy2==2.2.1'];
const SHOWN = 40;
const ALLOWED_MISSES = 0.0005;

function python() {
  if (values.python) return values.python;
  const folder = join(homedir(), '.cache', 'everturn', 'judge-oracle');
  const found = join(folder, 'bin', 'python');
  const ready = join(folder, `ready ${PACKAGES.join(' ')}`);
  if (!existsSync(ready)) {
    mkdirSync(folder, { recursive: true });
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'inherit' });
    execFileSync(found, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { stdio: 'inherit' });
    writeFileSync(ready, '');
  }
  return found;
}

const counts = new Map();
const tally = { equal: 0, different: 0, unclear: 0, falseYes: 0, falseNo: 0 };
let shown = 0;

function judged({ seed, kind, gold, answer, word }) {
  const { verdict, reason } = judge(`\\boxed{${answer}}`, [gold]);
  tally[word]++;
  const falseYes = word === 'different' && verdict === 'right';
  const falseNo = word === 'equal' && verdict !== 'right';
  const of = counts.get(kind) ?? { equal: 0, different: 0, unclear: 0, falseYes: 0, falseNo: 0 };
  counts.set(kind, of);
  of[word]++;
  if (values.record && (word === 'equal' || word === 'different'))
    appendFileSync(values.record, `${JSON.stringify({ seed, kind, gold, answer, word })}\n`);
  if (!falseYes && !falseNo) return;
  tally[falseYes ? 'falseYes' : 'falseNo']++;
  of[falseYes ? 'falseYes' : 'falseNo']++;
  if (falseYes || shown++ < SHOWN)
    console.log(
      `${falseYes ? 'FALSE YES' : 'false no'} seed ${seed} ${kind}: ${gold}  |  ${answer}  (${verdict}, ${reason})`,
    );
}

const [count, seed, processes] = [values.count, values.seed, values.processes].map(Number);
const program = python();
const share = Math.ceil(count / processes);
await Promise.all(
  Array.from({ length: processes }, async (_, k) => {
    const own = Math.min(share, count - k * share);
    const generator = new URL('generate.py', import.meta.url).pathname;
    const child = spawn(program, [generator, String(seed + k * share), String(own)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let judgedBy = -1;
    for await (const line of createInterface({ input: child.stdout })) {
      judged(JSON.parse(line));
      judgedBy++;
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    if (child.exitCode !== 0)
      throw new Error(
        `the generator ended with ${child.exitCode ?? child.signalCode} after seed ${seed + k * share + judgedBy}`,
      );
  }),
);
console.table(Object.fromEntries([...counts].sort()));
const missed = tally.falseNo / Math.max(1, tally.equal);
console.log(JSON.stringify({ seed, count, ...tally, missed }));
process.exitCode = tally.falseYes > 0 || missed > ALLOWED_MISSES ? 1 : 0;
