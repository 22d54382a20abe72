// Observes a running program from outside, every WATCH_MS and when its time is over: its share of the time and, if the
// kernel does not count them, the number of its files. Time in which it was ready but waited for a processor is given
// back, so a busy machine makes the judge slow and never an answer wrong.

import { COUNT_MS, WATCH_MS } from './limits.ts';
import { filesMade, keptWaitingMs, programPid } from './watch.ts';

export interface Clock {
  stop(): void;
  /** Since the start, minus the time given back. */
  ranMs(): number;
}

interface Alarms {
  end(why: 'wall-limit' | 'file-limit'): void;
  /** The machine's fault, not the program's. */
  fail(why: string): void;
}

/** A machine that lets a program run for less than a fifth of the time is overloaded. */
const MOST_WALL_LIMITS = 5;

/** `sandboxPid`: undefined if nothing can be observed from outside. `mostFiles`: undefined if the kernel counts. */
export function startClock(
  sandboxPid: number | undefined,
  wallMs: number,
  mostFiles: number | undefined,
  { end, fail }: Alarms,
): Clock {
  const startedAt = performance.now();
  let waitedMs = 0;
  let stopped = false;
  const elapsedMs = () => performance.now() - startedAt;
  const look = async () => {
    const program = sandboxPid === undefined ? undefined : await programPid(sandboxPid);
    if (program === undefined) return;
    waitedMs = Math.max(waitedMs, await keptWaitingMs(program));
    if (mostFiles === undefined) return;
    const files = await filesMade(program);
    if (!stopped && files !== undefined && files > mostFiles) end('file-limit');
  };
  const ring = async () => {
    await look();
    if (stopped) return;
    const leftMs = wallMs - (elapsedMs() - waitedMs);
    if (leftMs < 1) return end('wall-limit');
    if (elapsedMs() > MOST_WALL_LIMITS * wallMs) {
      return fail(`the machine is too busy: the program waited for ${Math.round(waitedMs)} ms`);
    }
    timer = setTimeout(ring, leftMs);
  };
  const watching = setInterval(look, mostFiles === undefined ? WATCH_MS : COUNT_MS);
  let timer = setTimeout(ring, wallMs);
  return {
    stop() {
      stopped = true;
      clearInterval(watching);
      clearTimeout(timer);
    },
    ranMs: () => Math.max(0, elapsedMs() - waitedMs),
  };
}
