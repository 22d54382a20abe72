// What a killed writer, a power cut or an interrupted copy leaves on a disk: temporary files, which go, and torn records, which
// are kept as evidence.

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOlderThan } from './clock.ts';
import { codeOf, fileError } from './errors.ts';
import { NODE_FILES } from './file-layer.ts';
import { readText } from './write-once.ts';
import { isOfDeadWriter, isTemporary, temporaryName } from './writer.ts';

const OLD_MS = 60 * 60 * 1000;

/**
 * Removes the leftovers of killed writers: of this machine at once, of any other when no live one holds its file so long.
 * `of`: of this file alone, and of this machine alone, in a folder that is the user's.
 */
export async function removeLeftovers(folder: string, of?: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', folder, error);
  });
  const left = names.filter((name) => isTemporary(name) && name.startsWith(of === undefined ? '.' : `.${of}.`));
  for (const name of left.toSorted()) {
    const path = join(folder, name);
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    const isLeft = isOfDeadWriter(name) || (of === undefined && (await isOlderThan(path, OLD_MS, folder, NODE_FILES)));
    if (isFile && isLeft) await unlink(path).catch(() => {});
  }
}

const STALE_LOCK_MS = 10_000;

/**
 * Keeps it as evidence, under a name that no reader opens. A whole record is never moved: only the holder of the lock
 * removes the file, and while a torn file has the name, nobody can write there.
 */
export async function moveAside(path: string): Promise<void> {
  const lock = join(dirname(path), temporaryName(basename(path), 'aside'));
  try {
    await mkdir(lock);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fileError('write', path, error);
    if (await isOlderThan(lock, STALE_LOCK_MS, dirname(path), NODE_FILES)) await rmdir(lock).catch(() => {});
    return sleep(20);
  }
  try {
    const text = await readText(path);
    if (text === undefined || text.endsWith('}\n')) return;
    await rename(path, join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.torn`));
  } catch (error) {
    throw fileError('write', path, error);
  } finally {
    await rmdir(lock).catch(() => {});
  }
}
