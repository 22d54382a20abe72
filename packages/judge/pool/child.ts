// The judge's own process: reads one job a line, writes one result a line. It ends when its parent does, also while it hangs:
// child-watch.ts sees to that and to its limit of processor time for a job, its argument in milliseconds.

import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { judge, type JudgeOptions } from '../judge.ts';
import { examineSolution } from '../solution.ts';

/** An answer to be judged, or a solution to be examined. */
export type ChildJob =
  | { readonly answer: string; readonly solutions: readonly string[]; readonly options?: JudgeOptions | undefined }
  | { readonly examine: string };

/** `result` is absent for a text that is too big for the judge, `fault` a bug of it. */
export interface ChildReply<T> {
  readonly result?: T;
  readonly fault?: string;
}

// Every answer takes another way through much code: optimising it with everything inlined cost a third of the time of
// the first ten thousand judgements, and gained nothing after them.
setFlagsFromString('--max-inlined-bytecode-size=100');
setFlagsFromString('--max-inlined-bytecode-size-cumulative=100');

// A text that cannot be read is an exception here; its stack would cost more than the reading.
Error.stackTraceLimit = 0;

/** One number, which is odd while a job is worked on and another one for each job. */
const jobs = new Int32Array(new SharedArrayBuffer(4));
const watch = new Worker(new URL(import.meta.url.replace(/child(?=\.[jt]s$)/, 'child-watch')), {
  workerData: { jobs, cpuLimitMs: Number(process.argv[2]), parent: process.ppid },
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
});
watch.unref();

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) process.stdout.write(`${work(line)}\n`);
});
process.stdin.on('end', () => process.exit(0));
process.stdout.write('ready\n');

function work(line: string): string {
  Atomics.add(jobs, 0, 1);
  const job = JSON.parse(line) as ChildJob;
  const reply = replyTo(job);
  Atomics.add(jobs, 0, 1);
  return JSON.stringify(reply);
}

function replyTo(job: ChildJob): ChildReply<unknown> {
  try {
    return {
      result: 'examine' in job ? examineSolution(job.examine) : judge(job.answer, job.solutions, job.options),
    };
  } catch (error) {
    // The stack's end, or a text or list that no engine holds.
    return error instanceof RangeError ? {} : { fault: String(error).slice(0, 500) };
  }
}
