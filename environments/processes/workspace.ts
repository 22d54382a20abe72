// The folder of one attempt of a program, at a path that is the same for every attempt. Guarantees, on one machine: what an
// earlier attempt started has ended before the folder is this one's, and what it left there is gone from the path; an attempt
// removes the folder only while it owns it, however late it wakes up; and one that was followed starts nothing. For this the
// change of owners and the start of the program are under a lock.
// Gap: a process that cleared its environment and left its group is not found.

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError } from '../../domain/errors/errors.ts';
import { lock } from '../../local/machine/lock.ts';
import { isAlive, type ProcessId, processesWith, signal } from '../../local/machine/process.ts';

export interface Workspace {
  readonly folder: string;
  /** A name of the attempt alone: the folder's name has it as soon as the folder is no longer the path's. */
  readonly token: string;
  /** A variable, and its value, that every process of the program has in its environment, and no other one. */
  readonly mark: readonly [name: string, value: string];
  /** Ends the wait for the folder. */
  readonly signal: AbortSignal;
}

const LOCK_POLL_MS = 50;
const GONE_WITHIN_MS = 20_000;
const GONE_POLL_MS = 20;

/**
 * Resolves as `start` does, which starts the program in the folder, now empty. `mayStart` rejects if the attempt has been
 * followed by another one.
 */
export async function startIn<T>(
  { folder, token, mark, signal: ending }: Workspace,
  mayStart: () => Promise<void>,
  start: () => Promise<T>,
): Promise<T> {
  let left: string | undefined;
  try {
    return await locked(folder, ending, async () => {
      ending.throwIfAborted();
      await mayStart();
      const owner = await ownerOf(folder);
      if (owner !== undefined) await endAll(mark);
      left = await movedAway(folder, owner ?? 'left');
      await writeFile(ownerFile(folder), token);
      await mkdir(folder, { mode: 0o700 });
      return await start();
    });
  } finally {
    await removed(left);
  }
}

/** Removes the folder, unless another attempt owns it. */
export async function removeWorkspace({ folder, token }: Workspace): Promise<void> {
  const left = await locked(folder, undefined, async () => {
    if ((await ownerOf(folder)) !== token) return undefined;
    const moved = await movedAway(folder, token);
    await rm(ownerFile(folder), { force: true });
    return moved;
  });
  await removed(left);
}

/** Few attempts have a lock in common: its folder stays. */
async function locked<T>(folder: string, ending: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const shard = join(dirname(folder), 'locks', basename(folder).slice(0, 3));
  const held = await lock(shard, undefined, LOCK_POLL_MS, ending);
  try {
    return await work();
  } finally {
    held.release();
  }
}

const ownerFile = (folder: string): string => `${folder}.owner`;
const ownerOf = (folder: string): Promise<string | undefined> =>
  readFile(ownerFile(folder), 'utf8').catch(() => undefined);

async function movedAway(folder: string, owner: string): Promise<string | undefined> {
  const place = `${folder}.${owner}`;
  try {
    await rename(folder, place);
    return place;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function removed(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

async function endAll([name, value]: Workspace['mark']): Promise<void> {
  for (const until = Date.now() + GONE_WITHIN_MS; ; await sleep(GONE_POLL_MS)) {
    const there = await processesWith(name, value);
    if (there.length === 0) return;
    if (Date.now() > until) {
      throw new AgentError(`Process ${there[0]!.pid} of an earlier attempt of the agent does not end.`, {
        reason: 'agent-not-run',
        retryable: true,
      });
    }
    for (const one of there) {
      // Before its own end: a number that no process has may become that of another group.
      endGroup(one);
      signal(one, 'SIGKILL');
    }
  }
}

/** That of the process, if it leads one: in it are those, too, that cleared their environment. */
function endGroup(leader: ProcessId): void {
  try {
    if (isAlive(leader)) process.kill(-leader.pid, 'SIGKILL');
  } catch {
    // It leads none.
  }
}
