// The judge's own process: reads one job a line, writes one result a line, in order. Replies that are ready go out
// together, and at the latest a few milliseconds after they were found, so that the parent knows which job is being
// worked on. It ends when its parent does, also while it hangs. Its argument: milliseconds of processor time for a job.

import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { judgeMath, type JudgeOptions } from '../judge.ts';
import { newOutboxMemory, openOutbox } from './outbox.ts';
import { examineSolution } from '../solution.ts';

/** An answer to be judged, or a solution to be examined. */
export type ChildJob =
  | { readonly answer: string; readonly solutions: readonly string[]; readonly options?: JudgeOptions | undefined }
  | { readonly examine: string };

// Every answer takes another way through much code: optimising it with everything inlined cost a third of the time of
// the first ten thousand judgements, and gained nothing after them.
setFlagsFromString('--max-inlined-bytecode-size=100');
setFlagsFromString('--max-inlined-bytecode-size-cumulative=100');

const DEFAULT_CPU_LIMIT_MS = 2_000;

const memory = newOutboxMemory();
const outbox = openOutbox(memory);
const watch = new Worker(new URL(import.meta.url.replace(/child(?=\.[jt]s$)/, 'child-watch')), {
  workerData: { memory, cpuLimitMs: Number(process.argv[2]) || DEFAULT_CPU_LIMIT_MS },
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
});
watch.unref();

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  outbox.busy(true);
  for (const line of lines) if (line !== '') outbox.put(work(line));
  outbox.busy(false);
  outbox.send();
});
process.stdin.on('end', () => process.exit(0));
outbox.put('ready');
outbox.send();

function work(line: string): string {
  outbox.begin();
  const job = JSON.parse(line) as ChildJob;
  const result = 'examine' in job ? examineSolution(job.examine) : judgeMath(job.answer, job.solutions, job.options);
  return JSON.stringify(result);
}
