// The clock of a tool's process, in a thread of its own: it says when a call has run for its time. It counts the time in
// which this process runs: while it is stopped, swapped out or waits for a processor, hardly any. A tool that computes
// without a pause does not hold it up. Only the thread that takes the number of the open call replies to it: one does.

import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/** A call that the clock is to watch. */
export interface WatchedCall {
  readonly id: number;
  /** Then the call's signal is aborted. */
  readonly timeoutMs: number;
  /** After this too, the clock replies. */
  readonly graceMs: number;
}

const TICK_MS = 50;
/** The part of a longer gap between two ticks beyond this was not run. */
const MOST_OF_A_GAP_MS = 2 * TICK_MS;

/** The number of the call that has no reply yet, or 0. */
const open = workerData as Int32Array;
let ticking: NodeJS.Timeout | undefined;

parentPort?.on('message', ({ id, timeoutMs, graceMs }: WatchedCall) => {
  clearInterval(ticking);
  let [ranMs, last, isAborted] = [0, performance.now(), false];
  ticking = setInterval(() => {
    if (Atomics.load(open, 0) !== id) return clearInterval(ticking);
    const now = performance.now();
    ranMs += Math.min(now - last, MOST_OF_A_GAP_MS);
    last = now;
    if (ranMs >= timeoutMs && !isAborted) {
      isAborted = true;
      parentPort!.postMessage(id, []);
    }
    if (ranMs < timeoutMs + graceMs || Atomics.compareExchange(open, 0, id, 0) !== id) return;
    writeSync(1, `${JSON.stringify({ id, result: { timedOut: true } })}\n`);
  }, TICK_MS);
});
