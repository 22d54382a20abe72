// Reads inside a run's folder that follow no symbolic link: a link that was planted there serves no file of another
// place. A file that is absent is undefined, also when it disappears between two reads.

import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../domain/errors.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR']);

/** The last `bytes` of a file, or all of it. */
export async function readTail(path: string, bytes = Number.MAX_SAFE_INTEGER): Promise<string | undefined> {
  try {
    const file = await open(path, READ);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return undefined;
      const length = Math.min(bytes, stat.size);
      const buffer = Buffer.allocUnsafe(length);
      let read = 0;
      while (read < length) {
        const { bytesRead } = await file.read(buffer, read, length - read, stat.size - length + read);
        if (bytesRead === 0) break;
        read += bytesRead;
      }
      return buffer.toString('utf8', 0, read);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Names of the real folders in a folder; none where there is no such folder. */
export async function foldersIn(path: string): Promise<string[]> {
  return (await entries(path)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Names of the real files in a folder. */
export async function filesIn(path: string): Promise<string[]> {
  return (await entries(path)).filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Milliseconds of its last change; undefined if it is not there. */
export async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Throws if a step of `path` below `root`, or a file in that folder, is a symbolic link. */
export async function mustBePlain(root: string, path: string): Promise<void> {
  let at = root;
  for (const step of ['', ...path.split('/')]) {
    at = step === '' ? at : join(at, step);
    if ((await lstat(at).catch(() => undefined))?.isSymbolicLink()) throw linked(at);
  }
  const link = (await entries(at)).find((entry) => entry.isSymbolicLink());
  if (link) throw linked(join(at, link.name));
}

function linked(path: string): StoreError {
  return new StoreError(`${path} is a symbolic link`, {
    reason: 'record-broken',
    fix: 'The viewer follows none: put the run itself into the folder.',
  });
}

async function entries(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as NodeJS.ErrnoException).code);
}
