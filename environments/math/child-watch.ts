// The watching thread of the judge's process. While a job runs, the replies before it go out; when the parent is gone,
// the process is killed, also while it hangs.

import { workerData } from 'node:worker_threads';
import { openOutbox } from './outbox.ts';

const SEND_EVERY_MS = 4;
const LOOK_EVERY_MS = 250;

const outbox = openOutbox(workerData as SharedArrayBuffer);
const parent = process.ppid;
for (;;) {
  if (outbox.waitForWork(LOOK_EVERY_MS)) {
    outbox.sleep(SEND_EVERY_MS);
    outbox.send();
  }
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}
