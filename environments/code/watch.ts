// Observes a sandboxed program from outside, through /proc: whether it waited for a processor or is stopped, whether the
// kernel was out of memory, and how many files it made, for machines where the kernel cannot limit them. Each answer is undefined once
// the program is gone.

import { readFileSync } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';

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
