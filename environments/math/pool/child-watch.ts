// The watching thread of the judge's process. While a job runs, the replies before it go out; when a job used up its
// processor time, or when the parent is gone, the process is killed, also while it hangs. Processor time and not the
// clock: a job on a machine that is busy with others has the same time as on an idle one.

import { workerData } from 'node:worker_threads';
import { openOutbox } from './outbox.ts';

const SEND_EVERY_MS = 4;
const LOOK_EVERY_MS = 250;

const { memory, cpuLimitMs } = workerData as { readonly memory: SharedArrayBuffer; readonly cpuLimitMs: number };
const outbox = openOutbox(memory);
const parent = process.ppid;
let job = -1;
let usedBefore = 0;
for (;;) {
  if (outbox.waitForWork(LOOK_EVERY_MS)) {
    outbox.sleep(SEND_EVERY_MS);
    outbox.send();
    lookAtTime();
  } else job = -1;
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}

function lookAtTime(): void {
  const { user, system } = process.cpuUsage();
  const used = (user + system) / 1000;
  const now = outbox.job();
  if (now !== job) {
    job = now;
    usedBefore = used;
  } else if (used - usedBefore > cpuLimitMs) process.kill(process.pid, 'SIGXCPU');
}
