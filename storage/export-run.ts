// A run's complete trajectories through an exporter into one file, or to a stream. The file appears whole
// or not at all; memory holds one trajectory. What is not complete, or cannot be believed, is counted and
// named, never exported.

import { once } from 'node:events';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { StoreError, UsageError } from '../domain/errors.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Trajectory } from '../domain/trajectory.ts';
import { fileError } from './file-errors.ts';
import type { Store } from './store.ts';
import { readTrajectories } from './trajectories.ts';
import { replaceFile, writeOnce } from './write-once.ts';

/** The part of an exporter that is used here. */
export interface LineMaker {
  /** Its lines are for training: answers without ids of their own are refused. */
  readonly forTraining?: boolean;
  lines(trajectory: Trajectory): string[];
}

/** `unfinished` is being played; `broken` has records that cannot be believed; `not-trainable` has answers without ids. */
export type WhySkipped = Outcome | 'unfinished' | 'broken' | 'not-trainable';

export interface SkippedRollout {
  readonly query: string;
  readonly sample: number;
  readonly outcome: WhySkipped;
  /** What is broken; null where nothing is. */
  readonly problem: string | null;
}

export interface ExportSummary {
  /** Trajectories written. */
  readonly exported: number;
  /** Trajectories left out, by outcome. */
  readonly skipped: Partial<Record<WhySkipped, number>>;
}

export interface ExportOptions {
  readonly onSkip?: (rollout: SkippedRollout) => void;
  /** Whether a file that is there is replaced (default), or refused. */
  readonly overwrite?: boolean;
}

/** `target`: a file's path, or a stream such as process.stdout. */
export async function exportRun(
  store: Store,
  exporter: LineMaker,
  target: string | Writable,
  { onSkip, overwrite = true }: ExportOptions = {},
): Promise<ExportSummary> {
  let exported = 0;
  const skipped: Partial<Record<WhySkipped, number>> = {};
  const samples = exportedSamples(store, exporter, (rollout) => {
    skipped[rollout.outcome] = (skipped[rollout.outcome] ?? 0) + 1;
    onSkip?.(rollout);
  });
  async function writeAll(write: (text: string) => Promise<void>): Promise<void> {
    for await (const { lines } of samples) {
      exported++;
      for (const line of lines) await write(`${line}\n`);
    }
  }

  if (typeof target !== 'string') {
    await writeAll(async (text) => {
      if (!target.write(text)) await once(target, 'drain');
    });
  } else {
    await writeFileAt(target, overwrite, (file) => writeAll((text) => file.appendFile(text)));
  }
  return { exported, skipped };
}

export interface ExportedSample {
  readonly query: string;
  readonly sample: number;
  /** No newline at their ends. */
  readonly lines: readonly string[];
}

/** What goes into an export, trajectory by trajectory. */
export async function* exportedSamples(
  store: Store,
  exporter: LineMaker,
  onSkip: (rollout: SkippedRollout) => void,
): AsyncGenerator<ExportedSample> {
  const onBroken = ({ query, sample }: RolloutId, { message: problem }: StoreError) =>
    onSkip({ query, sample, outcome: 'broken', problem });
  for await (const { rollout, turns, end } of readTrajectories(store, { onBroken })) {
    const { query, sample } = rollout;
    const skip = (outcome: WhySkipped, problem: string | null = null) =>
      onSkip({ query: query.queryId, sample, outcome, problem });
    const outcome = end?.outcome ?? 'unfinished';
    if (outcome !== 'complete') skip(outcome);
    else if (exporter.forTraining && turns.some(({ record }) => record.trainable === false)) {
      skip('not-trainable', 'the server gave text and no token ids');
    } else {
      try {
        yield { query: query.queryId, sample, lines: exporter.lines({ rollout, turns, end }) };
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        skip('broken', error.message);
      }
    }
  }
}

/** Whole or not at all, through links; a device or a pipe is written to, never replaced. */
async function writeFileAt(
  target: string,
  overwrite: boolean,
  fill: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const path = await realpath(target).catch(() => resolve(target));
  try {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    if (found && !found.isFile()) await writeDevice(path, fill);
    else if (overwrite) await replaceFile(path, fill);
    else if (found || !(await writeOnce(path, fill))) throw isThere(target);
  } catch (error) {
    throw notExported(fileError('write', path, error));
  }
}

async function writeDevice(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const device = await open(path, 'w');
  try {
    await fill(device);
  } finally {
    await device.close();
  }
}

function isThere(target: string): UsageError {
  return new UsageError(`${target} is there already.`, {
    reason: 'file-exists',
    fix: '--overwrite replaces it when the new export is whole; or name another file with --out.',
  });
}

/** What helps a run that goes on helps no export that ended. */
export function notExported(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.cause === undefined) return error;
  const { message, reason, cause } = error;
  return new StoreError(message, { reason, fix: 'Mend that, or choose another --out, and export again.', cause });
}
