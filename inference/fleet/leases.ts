// At most `limit` holders at a time, over all processes that share a folder. A holder creates a lease file, counts the
// live leases, and withdraws its own if they are too many. Each holder counts after all earlier ones have created
// theirs, so the limit is never exceeded. A process that is dead or frozen for `ttlMs` loses its leases.

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Leases {
  /** Null if all are taken. The function returns the lease; it never throws. */
  tryAcquire(): Promise<(() => Promise<void>) | null>;
  close(): Promise<void>;
}

interface LeaseOptions {
  readonly folder: string;
  readonly limit: number;
  readonly ttlMs?: number;
}

const BEAT = 'beat';

/** Files are `<process>.beat`, written while it lives, and `<process>.<number>`, one per lease. */
export async function openLeases({ folder, limit, ttlMs = 15_000 }: LeaseOptions): Promise<Leases> {
  const self = randomUUID();
  let beatAt = 0;
  let number = 0;
  let closed = false;

  /** Now, by the clock that stamps the folder's files: machines that share it need not agree on the time. */
  async function beat(): Promise<number> {
    const file = join(folder, `${self}.${BEAT}`);
    beatAt = performance.now();
    await writeFile(file, '.');
    return (await stat(file)).mtimeMs;
  }
  /** Created with the first lease: a rejected run leaves no folder. */
  let begun: Promise<unknown> | undefined;
  const begin = async () => {
    await mkdir(folder, { recursive: true });
    await beat();
  };
  const timer = setInterval(() => {
    if (begun && !closed) beat().catch(() => undefined); // a folder that is away for a moment
  }, ttlMs / 3);
  timer.unref();

  /** Live leases. Dead ones are removed only if they would exceed the limit. */
  async function held(): Promise<number> {
    const names = await readdir(folder);
    const all = leasesIn(names);
    if (all.length < limit) return all.length;
    const dead = await bury(folder, names, await beat(), ttlMs);
    return all.filter((name) => !dead.has(ownerOf(name))).length;
  }

  return {
    async tryAcquire() {
      await (begun ??= begin().catch((error: unknown) => {
        begun = undefined;
        throw error;
      }));
      // Other processes may count a frozen process as dead: it renews its files before its next lease.
      if (performance.now() - beatAt > ttlMs / 2) await beat();
      // Counted before the attempt: two concurrent attempts for one place would reject each other.
      if ((await held()) >= limit) return null;
      const file = join(folder, `${self}.${number++}`);
      const giveBack = () => rm(file, { force: true }).catch(() => undefined);
      await writeFile(file, '');
      if ((await held()) <= limit) return giveBack;
      await giveBack();
      return null;
    },
    async close() {
      closed = true;
      clearInterval(timer);
      const names = await readdir(folder).catch(() => []);
      await remove(folder, names, self);
    },
  };
}

function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('.'));
}

function leasesIn(names: readonly string[]): string[] {
  return names.filter((name) => /^[\da-f-]+\.\d+$/.test(name));
}

/** Removes the leases of dead processes. Returns their ids. */
async function bury(folder: string, names: readonly string[], now: number, ttlMs: number): Promise<Set<string>> {
  const dead = new Set<string>();
  for (const owner of new Set(leasesIn(names).map(ownerOf))) {
    const mtime = (await stat(join(folder, `${owner}.${BEAT}`)).catch(() => null))?.mtimeMs;
    if (mtime !== undefined && now - mtime <= ttlMs) continue;
    dead.add(owner);
    await remove(folder, names, owner);
  }
  return dead;
}

async function remove(folder: string, names: readonly string[], owner: string): Promise<void> {
  const theirs = names.filter((name) => ownerOf(name) === owner);
  await Promise.all(theirs.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined)));
}
