// A run's folder moved out of the way, whole: its name is free for a new run, and nothing of it is lost. Folders alone; a
// bucket has none to move.

import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileError } from './errors.ts';

/** Beside runs, and no run's name: nobody lists it. */
const ASIDE = '.failed';

/** The folder's new place. */
export async function setAside(runFolder: string, at: number): Promise<string> {
  const folder = join(dirname(runFolder), ASIDE);
  const place = join(folder, `${basename(runFolder)}-${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}`);
  try {
    await mkdir(folder, { recursive: true });
    await rename(runFolder, place);
    return place;
  } catch (error) {
    throw fileError('move', runFolder, error);
  }
}
