// A run's folder holds the run's records and nothing else: no command writes a file of a user's choice into it, and no run
// begins inside another one or around one. Links and other spellings are resolved first. Not covered: a shell's `>`.

import { realpath } from 'node:fs/promises';
import { UsageError } from '../../domain/errors/errors.ts';
import { basename, dirname, isOnDisk, join } from '../place.ts';
import { RUN_FILE } from '../format/layout.ts';
import { namesIn, readText } from '../places/files.ts';

/** Throws if a file or folder at `place` would be in a run's folder. */
export async function mustBeOutsideRuns(place: string): Promise<void> {
  const run = await runAround(place);
  if (run === undefined) return;
  throw new UsageError(`${place} is in the folder of a run, ${run}, which holds its records alone.`, {
    reason: 'bad-value',
    fix: 'Name a place outside of every run.',
  });
}

/** Throws if a run that begins in this folder would be inside another one or around one. */
export async function mayHoldRun(folder: string): Promise<void> {
  if (await isRun(folder)) return;
  await mustBeOutsideRuns(dirname(folder));
  for (const name of await namesIn(folder)) {
    if (!(await isRun(join(folder, name)))) continue;
    throw new UsageError(`${folder} holds runs, such as ${name}, and cannot be one.`, {
      reason: 'bad-value',
      fix: 'Give the run another --name or --out.',
    });
  }
}

async function runAround(place: string): Promise<string | undefined> {
  for (let folder = await realPlace(place); ; folder = dirname(folder)) {
    if (await isRun(folder)) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** As far as it exists: what is not there yet is no link. */
async function realPlace(place: string): Promise<string> {
  if (!isOnDisk(place)) return place;
  const above = dirname(place);
  return realpath(place).catch(async () => (above === place ? place : join(await realPlace(above), basename(place))));
}

/** Another program's run.json is none; one of ours that is torn is. A place that may not be read is no run of this user. */
async function isRun(folder: string): Promise<boolean> {
  const text = await readText(join(folder, RUN_FILE)).catch(() => undefined);
  if (text === undefined) return false;
  try {
    const { format } = (JSON.parse(text) ?? {}) as { readonly format?: unknown };
    return typeof format === 'string' && format.startsWith('everturn-run/');
  } catch {
    return true;
  }
}
