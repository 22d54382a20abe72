// A lock between processes that dies with its holder. Each contender puts a claim (an empty file named after host, pid
// and start time) into a folder, then lists the folder: it holds the lock if there is no other live claim. Announcing
// before looking admits no two holders. A dead claim's name is never used again, so removing it cannot hit a new
// holder, which is the race of pid files. There is nothing to refresh and no time-out.

import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive, type ProcessId } from './process.ts';

interface Lock {
  release(): void;
}

/** Processes of another machine (a shared home) cannot be queried: their claims count for this long. */
const FOREIGN_CLAIM_MS = 120_000;
const HERE = encodeURIComponent(hostname()).replaceAll('.', '%2E');

let counter = 0;

/** The lock, or its holder. Two contenders at the same instant may both back off, so each tries a few times. */
export async function tryLock(folder: string, looks = 8): Promise<Lock | { readonly heldBy: ProcessId }> {
  for (let look = 1; ; look++) {
    const claim = announce(folder);
    const other = otherLiveClaim(folder, claim);
    if (!other) return { release: () => rmSync(join(folder, claim), { force: true }) };
    rmSync(join(folder, claim), { force: true });
    if (look >= looks) return { heldBy: other };
    await sleep(5 + Math.random() * 30);
  }
}

/** Waits for the lock, until the signal aborts; `onWait` is called once with the holder. */
export async function lock(
  folder: string,
  onWait?: (holder: ProcessId) => void,
  pollMs = 500,
  signal?: AbortSignal,
): Promise<Lock> {
  for (let waiting = false; ; waiting = true) {
    signal?.throwIfAborted();
    const got = await tryLock(folder);
    if ('release' in got) return got;
    if (!waiting) onWait?.(got.heldBy);
    await sleep(pollMs * (0.75 + Math.random() / 2));
  }
}

/** The live holder of the lock, if any. */
export function lockHolder(folder: string): ProcessId | undefined {
  return otherLiveClaim(folder, '');
}

function announce(folder: string): string {
  const me = identify(process.pid);
  const claim = [HERE, process.pid, encodeURIComponent(me?.startTime ?? '0').replaceAll('.', '%2E'), ++counter].join(
    '.',
  );
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, claim), '', { flag: 'wx' });
  return claim;
}

function otherLiveClaim(folder: string, own: string): ProcessId | undefined {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  for (const name of names) {
    if (name === own) continue;
    const [host, pid, startTime] = name.split('.').map(decodeURIComponent);
    const id = { pid: Number(pid), startTime: startTime ?? '' };
    if (host === decodeURIComponent(HERE) ? isAlive(id) : isFresh(join(folder, name))) return id;
    rmSync(join(folder, name), { force: true });
  }
  return undefined;
}

function isFresh(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs < FOREIGN_CLAIM_MS;
  } catch {
    return false;
  }
}
