// The judge's own process: reads one job a line, writes one verdict a line, in order. It ends when its parent
// does, also while it hangs: a watching thread sees the parent's id change and kills the process.

import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { judgeMath, type JudgeOptions } from './judge.ts';

interface Job {
  readonly answer: string;
  readonly solutions: readonly string[];
  readonly options?: JudgeOptions;
}

const WATCH = `
const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 250);
`;
const watch = new Worker(WATCH, {
  eval: true,
  resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
});
watch.unref();

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) if (line !== '') reply(judge(line));
});
process.stdin.on('end', () => process.exit(0));
reply('ready');

function judge(line: string): string {
  const job = JSON.parse(line) as Job;
  return JSON.stringify(judgeMath(job.answer, job.solutions, job.options));
}

/** Written at once, so that the parent always knows which job is being worked on. */
function reply(text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
