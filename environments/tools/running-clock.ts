// The time of a request to a process that has no clock of ours: it counts while this process runs and no part of the
// other one is stopped. Without /proc a stopped one is not seen. It ends in bounded time on any clock: then neither the
// request nor the tool has failed, but the machine.

import { readFileSync } from 'node:fs';

const TICK_MS = 250;
const MOST_OF_A_GAP_MS = 5_000;
const MOST_PROCESSES = 64;

/** A machine that lets a process run for less than a fifth of this is overloaded. */
export const mostMs = (timeoutMs: number): number => Math.max(timeoutMs, Math.min(5 * timeoutMs + 60_000, 28 * 60_000));

export interface Alarms {
  /** It ran for its time. */
  over(): void;
  /** It did not, for so long that it is given up. */
  stood(): void;
}

/** Returns what ends the watch. */
export function watchRun(pid: number | undefined, timeoutMs: number, longestMs: number, alarms: Alarms): () => void {
  const tickMs = Math.min(TICK_MS, timeoutMs / 4);
  let [ranMs, watchedMs, last] = [0, 0, performance.now()];
  const ticking = setInterval(() => {
    const gapMs = performance.now() - last;
    last += gapMs;
    if (!isStopped(pid)) ranMs += Math.min(gapMs, 2 * tickMs);
    // A longer gap means that this process was stopped itself, and no reply could have been read.
    watchedMs += Math.min(gapMs, MOST_OF_A_GAP_MS);
    if (ranMs >= timeoutMs) alarms.over();
    else if (watchedMs >= longestMs) alarms.stood();
    else return;
    clearInterval(ticking);
  }, tickMs);
  return () => clearInterval(ticking);
}

/** True if the process, or one that it started, was stopped by a signal. */
function isStopped(pid: number | undefined): boolean {
  const seen = pid === undefined ? [] : [pid];
  for (const one of seen) {
    const state = text(`/proc/${one}/stat`).split(') ').pop()?.[0];
    if (state === 'T' || state === 't') return true;
    const children = text(`/proc/${one}/task/${one}/children`).trim();
    if (children !== '' && seen.length < MOST_PROCESSES) seen.push(...children.split(' ').map(Number));
  }
  return false;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
