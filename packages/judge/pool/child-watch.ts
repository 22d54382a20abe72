// The watching thread of the judge's process. It kills the process, also while that hangs, when a job used up its
// processor time or when the parent is gone. Processor time and not the clock: a job on a machine that is busy with
// others has the same time as on an idle one.

import { workerData } from 'node:worker_threads';

const LOOK_EVERY_MS = 250;

interface Watched {
  readonly jobs: Int32Array;
  readonly cpuLimitMs: number;
  /** As the process found it before its first job: this thread may start after the parent's end. */
  readonly parent: number;
}

const { jobs, cpuLimitMs, parent } = workerData as Watched;
const never = new Int32Array(new SharedArrayBuffer(4));
let job = 0;
let usedBefore = 0;
for (;;) {
  Atomics.wait(never, 0, 0, LOOK_EVERY_MS);
  const { user, system } = process.cpuUsage();
  const used = (user + system) / 1000;
  const now = Atomics.load(jobs, 0);
  if (now % 2 === 0 || now !== job) {
    job = now;
    usedBefore = used;
  } else if (used - usedBefore > cpuLimitMs) process.kill(process.pid, 'SIGXCPU');
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}
