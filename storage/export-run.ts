// A run's complete trajectories through an exporter into one file, or to a stream. The file appears whole
// or not at all; memory holds one trajectory. What is not complete is counted, never exported.

import { once } from 'node:events';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { Outcome } from '../domain/outcome.ts';
import type { Trajectory } from '../domain/trajectory.ts';
import { fileError } from './file-errors.ts';
import type { Store } from './store.ts';
import { readTrajectories } from './trajectories.ts';
import { replaceFile } from './write-once.ts';

/** The part of an exporter that is used here. */
export interface LineMaker {
  lines(trajectory: Trajectory): string[];
}

export interface SkippedRollout {
  readonly query: string;
  readonly sample: number;
  readonly outcome: Outcome | 'unfinished';
}

export interface ExportSummary {
  /** Trajectories written. */
  readonly exported: number;
  /** Trajectories left out, by outcome. */
  readonly skipped: Partial<Record<Outcome | 'unfinished', number>>;
}

export interface ExportOptions {
  readonly onSkip?: (rollout: SkippedRollout) => void;
}

/** `target`: a file's path, or a stream such as process.stdout. */
export async function exportRun(
  store: Store,
  exporter: LineMaker,
  target: string | Writable,
  { onSkip }: ExportOptions = {},
): Promise<ExportSummary> {
  let exported = 0;
  const skipped: Partial<Record<Outcome | 'unfinished', number>> = {};

  async function writeAll(write: (text: string) => Promise<void>): Promise<void> {
    for await (const trajectory of readTrajectories(store)) {
      const outcome = trajectory.end?.outcome ?? 'unfinished';
      if (outcome === 'complete') {
        exported++;
        for (const line of exporter.lines(trajectory)) await write(`${line}\n`);
      } else {
        skipped[outcome] = (skipped[outcome] ?? 0) + 1;
        onSkip?.({ query: trajectory.rollout.query.queryId, sample: trajectory.rollout.sample, outcome });
      }
    }
  }

  if (typeof target !== 'string') {
    await writeAll(async (text) => {
      if (!target.write(text)) await once(target, 'drain');
    });
  } else {
    await writeFileAt(target, (file) => writeAll((text) => file.appendFile(text)));
  }
  return { exported, skipped };
}

/** Whole or not at all, through links; a device or a pipe is written to, never replaced. */
async function writeFileAt(target: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const path = await realpath(target).catch(() => resolve(target));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw fileError('write', path, Object.assign(new Error('EISDIR'), { code: 'EISDIR' }));
  if (!found || found.isFile()) return replaceFile(path, fill);
  const device = await open(path, 'w');
  try {
    await fill(device);
  } finally {
    await device.close();
  }
}
