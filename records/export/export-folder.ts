// Writes a run's trajectories, all attempts, ended or not, as a folder of files. The folder appears complete or not at all:
// it is filled under another name beside its place. An existing one is never replaced, since something may be reading it.

import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../../domain/errors/errors.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { fileError } from '../disk/errors.ts';
import { made } from './exported-parts.ts';
import { type ExportSummary, notExported } from './export-run.ts';
import { mustBeOutsideRuns } from '../run/outside-runs.ts';
import { temporaryName } from '../disk/writer.ts';
import { everyTrajectory, type SkippedRollout, type WhySkipped } from './selection.ts';
import type { Store } from '../store.ts';
import { isOnDisk } from '../place.ts';

export interface FolderFile {
  /** `<top>/…`: every file stands under one top folder. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface FolderSummary extends ExportSummary {
  readonly files: number;
}

/** Fills `<folder>/<top>`. */
export async function exportFolder(
  store: Store,
  filesOf: (trajectory: Trajectory) => FolderFile[],
  { folder, top }: { readonly folder: string; readonly top: string },
  onSkip?: (rollout: SkippedRollout) => void,
): Promise<FolderSummary> {
  if (!isOnDisk(folder)) {
    throw new UsageError(`A folder of files is made on a disk, and ${folder} is in a bucket.`, {
      reason: 'bad-value',
      fix: 'Name a folder with --to, and copy it there afterwards.',
    });
  }
  const target = join(folder, top);
  await mustBeOutsideRuns(target);
  if (await stat(target).catch(() => undefined)) {
    throw new UsageError(`${target} exists already.`, {
      reason: 'file-exists',
      fix: 'Name another folder with --to, or move that one away: something may be reading it.',
    });
  }
  const temporary = join(folder, temporaryName(top, `${process.pid}`));
  const skipped: Partial<Record<WhySkipped, number>> = {};
  const count = (rollout: SkippedRollout): void => {
    skipped[rollout.outcome] = (skipped[rollout.outcome] ?? 0) + 1;
    onSkip?.(rollout);
  };
  const written = { exported: 0, files: 0 };
  try {
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true });
    for await (const { trajectory } of everyTrajectory(store, count)) {
      const files = made({}, trajectory, count, () => filesOf(trajectory));
      if (!files) continue;
      written.exported++;
      for (const { path, bytes } of files) {
        const file = join(temporary, path.slice(top.length + 1));
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, bytes, { flush: true });
        written.files++;
      }
    }
    if (written.files > 0) await rename(temporary, target);
    else await rm(temporary, { recursive: true });
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {});
    throw notExported(fileError('write', target, error));
  }
  const lines = written.exported;
  return { ...written, lines, finishedTurns: 0, skipped, ...(written.files === 0 && { empty: true }) };
}
