// Tests whether this machine can write to a run's folder now, or make a run in a place. Leaves no file.

import { randomBytes } from 'node:crypto';
import { stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isBucketPlace } from '../../domain/bucket-place.ts';
import { explain, StoreError } from '../../domain/errors.ts';
import * as place from '../place.ts';
import { fileError } from './errors.ts';
import { removeFile } from './facts.ts';
import { temporaryName } from './temporary.ts';
import { writeOnce } from './write-once.ts';

/** About the size of a turn's record: a nearly full disk accepts less than that. */
const BYTES = 64 * 1024;

/** The error's text if a run's folder cannot be written. */
export async function unwritable(runFolder: string): Promise<string | undefined> {
  // A folder that does not exist is not created here.
  if (!(await stat(runFolder).catch(() => undefined))) return undefined;
  const path = join(runFolder, temporaryName('probe', `${process.pid}-${randomBytes(4).toString('hex')}`));
  try {
    await writeOnce(path, randomBytes(BYTES));
    return undefined;
  } catch (error) {
    return explain(error);
  } finally {
    await unlink(path).catch(() => {});
  }
}

/** Throws a StoreError if no run can be made there: asked before anything is started for it. */
export async function mustTakeRun(runFolder: string): Promise<void> {
  const near = isBucketPlace(runFolder) ? runFolder : await nearest(runFolder);
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
