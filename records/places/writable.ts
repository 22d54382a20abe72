// Tests whether this machine can write to a run's folder now, by its rights and its space alone, or make a run in a place,
// by a write. Leaves no file.

import { randomBytes } from 'node:crypto';
import { constants, type StatsFs } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { explain, StoreError } from '../../domain/errors/errors.ts';
import * as place from '../place.ts';
import { fileError } from '../disk/errors.ts';
import { temporaryName } from '../disk/writer.ts';
import { removeFile, writeOnce } from './files.ts';
import { isOnDisk } from '../place.ts';

/** About the size of a turn's record: a nearly full disk accepts less than that. */
const BYTES = 64 * 1024;

/**
 * The error's text if a run's folder cannot be written. Writes nothing, since readers ask it again and again.
 * Not seen: a quota, and a disk that fails with the write itself. A worker that meets one reports it.
 */
export async function unwritable(
  runFolder: string,
  space: (path: string) => Promise<StatsFs> = statfs,
): Promise<string | undefined> {
  // A folder that does not exist is not created here, and a bucket is no folder.
  const found = await stat(runFolder).catch(() => undefined);
  if (!found) return undefined;
  try {
    if (!found.isDirectory()) throw failure('ENOTDIR');
    await access(runFolder, constants.W_OK | constants.X_OK);
    const { blocks, bavail, bsize, files, ffree } = await space(runFolder);
    // A file system without such a limit counts none at all.
    if ((blocks > 0 && bavail * bsize < BYTES) || (files > 0 && ffree < 1)) throw failure('ENOSPC');
    return undefined;
  } catch (error) {
    return explain(fileError('write', runFolder, error));
  }
}

const failure = (code: string): Error => Object.assign(new Error(code), { code });

/** Throws a StoreError if no run can be made there: asked before anything is started for it. */
export async function mustTakeRun(runFolder: string): Promise<void> {
  const near = isOnDisk(runFolder) ? await nearest(runFolder) : runFolder;
  const path = place.join(near, temporaryName('probe', `${process.pid}-${randomBytes(4).toString('hex')}`));
  try {
    await writeOnce(path, randomBytes(BYTES));
  } catch (error) {
    // Named is the run's folder, not the probe.
    throw error instanceof StoreError && error.cause !== undefined && near !== runFolder
      ? fileError('make', runFolder, error.cause)
      : error;
  } finally {
    await removeFile(path).catch(() => {});
  }
}

/** The folder itself, or the nearest one above it that exists. */
async function nearest(folder: string): Promise<string> {
  const isThere = dirname(folder) === folder || (await stat(folder).catch(() => undefined)) !== undefined;
  return isThere ? folder : nearest(dirname(folder));
}
