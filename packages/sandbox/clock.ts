// The time of a running program, observed from outside through /proc every WATCH_MS: what it ran, and, if the kernel does not
// count them, the number of its files. Time in which it was ready but waited for a processor is given back, and so is time in
// which it or this process did not run (stopped, frozen, swapped out): a busy machine makes the judge slow and never an answer
// wrong.

import { readFileSync } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { COUNT_MS, mostElapsedMs, WATCH_MS } from './sandbox.ts';

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

/** Between two looks; of a longer gap the rest is given back. At most an eighth of the program's time. */
const MOST_OF_A_GAP_MS = 1_000;

const WATCH = { programPid, keptWaitingMs, isStopped, filesMade };

/** `sandboxPid`: undefined if nothing can be observed from outside. `mostFiles`: undefined if the kernel counts. */
export function startClock(
  sandboxPid: number | undefined,
  wallMs: number,
  mostFiles: number | undefined,
  { end, fail }: Alarms,
  watch = WATCH,
): Clock {
  const tickMs = mostFiles === undefined ? WATCH_MS : COUNT_MS;
  const mostOfAGapMs = Math.max(2 * tickMs, Math.min(MOST_OF_A_GAP_MS, wallMs / 8));
  const startedAt = performance.now();
  let [waitedMs, missedMs, stoppedMs, lookedAt, stopped] = [0, 0, 0, startedAt, false];
  const missedSince = () => Math.max(0, performance.now() - lookedAt - mostOfAGapMs);
  const elapsedMs = () => performance.now() - startedAt;
  const ranMs = () => Math.max(0, elapsedMs() - waitedMs - stoppedMs - missedMs - missedSince());

  const look = async (sinceMs: number) => {
    const program = sandboxPid === undefined ? undefined : await watch.programPid(sandboxPid);
    if (program === undefined) return;
    waitedMs = Math.max(waitedMs, await watch.keptWaitingMs(program));
    if (await watch.isStopped(program)) stoppedMs += sinceMs;
    if (mostFiles === undefined) return;
    const files = await watch.filesMade(program);
    if (!stopped && files !== undefined && files > mostFiles) end('file-limit');
  };
  const tick = async () => {
    const gapMs = performance.now() - lookedAt;
    missedMs += Math.max(0, gapMs - mostOfAGapMs);
    lookedAt += gapMs;
    await look(Math.min(gapMs, mostOfAGapMs));
    if (stopped) return;
    const leftMs = wallMs - ranMs();
    if (leftMs < 1) return end('wall-limit');
    const watchedMs = elapsedMs() - missedMs;
    if (watchedMs > mostElapsedMs(wallMs)) {
      const [all, ran] = [watchedMs, ranMs()].map((ms) => Math.round(ms / 1000));
      return fail(`the machine is too busy: the program ran for ${ran} s of ${all}`);
    }
    timer = setTimeout(tick, Math.min(tickMs, leftMs));
  };
  let timer = setTimeout(tick, Math.min(tickMs, wallMs));
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    ranMs,
  };
}

/** The program's own process: the only child of bubblewrap's. */
export async function programPid(sandboxPid: number): Promise<number | undefined> {
  return firstOf(await readText(childrenFile(sandboxPid)));
}

/** Synchronous version. */
export function programPidNow(sandboxPid: number): number | undefined {
  try {
    return firstOf(readFileSync(childrenFile(sandboxPid), 'latin1'));
  } catch {
    return undefined;
  }
}

function childrenFile(pid: number): string {
  return `/proc/${pid}/task/${pid}/children`;
}

function firstOf(pids: string | undefined): number | undefined {
  const first = Number(pids?.trim().split(' ')[0]);
  return first > 0 ? first : undefined;
}

/** Files, folders and other entries of its writable folder. */
export async function filesMade(pid: number): Promise<number | undefined> {
  // Any thread will do: the first can end while the others run.
  for (const thread of await threadsOf(pid)) {
    const root = `/proc/${pid}/task/${thread}/root`;
    const stats = await statfs(`${root}/tmp`).catch(() => undefined);
    if (stats) return stats.files - stats.ffree;
  }
  return undefined;
}

/** True if it was stopped by a signal, which it cannot send to itself. */
export async function isStopped(pid: number): Promise<boolean> {
  return (await readText(`/proc/${pid}/stat`))?.split(') ').pop()?.[0] === 'T';
}

/** Longest time that one of its threads was ready to run and did not. */
export async function keptWaitingMs(pid: number): Promise<number> {
  const waits = await Promise.all(
    (await threadsOf(pid)).map(async (thread) => {
      const [, waitedNs] = (await readText(`/proc/${pid}/task/${thread}/schedstat`))?.split(' ') ?? [];
      return Number(waitedNs ?? 0) / 1e6;
    }),
  );
  return Math.max(0, ...waits);
}

let knownKills: { readonly count: string | undefined; readonly at: number } = { count: undefined, at: -Infinity };

/** Number of out-of-memory kills on this machine; cached for `freshMs`. */
export async function outOfMemoryKills(freshMs: number): Promise<string | undefined> {
  if (performance.now() - knownKills.at > freshMs) {
    const at = performance.now();
    knownKills = { count: (await readText('/proc/vmstat'))?.match(/^oom_kill (\d+)$/m)?.[1], at };
  }
  return knownKills.count;
}

function threadsOf(pid: number): Promise<string[]> {
  return readdir(`/proc/${pid}/task`).catch(() => []);
}

function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'latin1').catch(() => undefined);
}
