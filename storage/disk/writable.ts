// Whether this machine can write to a run's folder now: in the words of the error where it cannot. Leaves nothing.

import { randomBytes } from 'node:crypto';
import { stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../../domain/errors.ts';
import { temporaryName } from '../record/layout.ts';
import { writeOnce } from './write-once.ts';

/** About a turn's record: a disk that is nearly full takes less than that. */
const BYTES = 64 * 1024;

export async function unwritable(runFolder: string): Promise<string | undefined> {
  // What is not there is nobody's to make.
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
