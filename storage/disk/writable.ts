// Tests whether this machine can write to a run's folder now; returns the error's text if not. Leaves no file.

import { randomBytes } from 'node:crypto';
import { stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../../domain/errors.ts';
import { temporaryName } from './temporary.ts';
import { writeOnce } from './write-once.ts';

/** About the size of a turn's record: a nearly full disk accepts less than that. */
const BYTES = 64 * 1024;

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
