// Writes a run's complete trajectories through an exporter to a file or a stream. The file appears complete or not at
// all; memory holds one trajectory. Incomplete and damaged rollouts are counted and named, never exported; for
// undecided ones the finished turns can be requested.

import { once } from 'node:events';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { isBucketPlace } from '../domain/bucket-place.ts';
import { StoreError, UsageError } from '../domain/errors.ts';
import type { RowLabels } from '../domain/neutral-row.ts';
import type { Trajectory } from '../domain/trajectory.ts';
import { fileError } from './disk/errors.ts';
import {
  type NotCarried,
  selectedTrajectories,
  type SelectionOptions,
  type SkippedRollout,
  type WhySkipped,
} from './selection.ts';
import type { ReadingOptions } from './reading.ts';
import type { Store } from './store.ts';
import { replaceFile, writeOnce } from './disk/write-once.ts';

export type Labels = Partial<RowLabels>;
export type Chunk = string | Uint8Array;

/** A format with a state: a file's head and end, or lines that several trajectories make. */
export interface Encoder {
  /** Throws StoreError before it changes anything. */
  add(trajectory: Trajectory, labels: Labels): Chunk[];
  /** Called once, after the last trajectory. */
  end(): Chunk[];
}

/** The part of an exporter that this file uses. */
export interface LineMaker {
  /** Its lines are for training: answers without token ids are refused. */
  readonly forTraining?: boolean;
  /** Its lines hold labels of the group. */
  readonly grouped?: boolean;
  /** Why a complete trajectory gives nothing. */
  leavesOut?(trajectory: Trajectory): NotCarried | undefined;
  lines(trajectory: Trajectory, labels?: Labels): string[];
  /** Instead of lines. */
  open?(): Encoder;
  /** The sample's id in the file. */
  id?(trajectory: Trajectory): string;
  /** Lines as an older Everturn wrote them, if today's differ. */
  former?(trajectory: Trajectory): { readonly id: string; readonly lines: readonly string[] } | undefined;
}

export interface ExportSummary {
  /** Trajectories written. */
  readonly exported: number;
  /** Lines or parts written: several trajectories may make one, or one several. */
  readonly lines: number;
  /** Those of them that are finished turns of an undecided rollout. */
  readonly finishedTurns: number;
  /** Trajectories left out, by outcome. */
  readonly skipped: Partial<Record<WhySkipped, number>>;
}

export interface ExportOptions extends Omit<SelectionOptions, 'forTraining' | 'grouped'> {
  readonly onSkip?: (rollout: SkippedRollout) => void;
  /** Whether an existing file is replaced (default) or refused. */
  readonly overwrite?: boolean;
}

/** `target`: a file's path, or a stream such as process.stdout. */
export async function exportRun(
  store: Store,
  exporter: LineMaker,
  target: string | Writable,
  { onSkip, overwrite = true, ...selection }: ExportOptions = {},
): Promise<ExportSummary> {
  const written = { exported: 0, lines: 0, finishedTurns: 0 };
  const skipped: Partial<Record<WhySkipped, number>> = {};
  const count = (rollout: SkippedRollout): void => {
    skipped[rollout.outcome] = (skipped[rollout.outcome] ?? 0) + 1;
    onSkip?.(rollout);
  };
  const encoder = exporter.open?.() ?? lineByLine(exporter);
  async function writeAll(writeChunk: (chunk: Chunk) => Promise<void>): Promise<void> {
    const write = (chunk: Chunk): Promise<void> => {
      if (typeof chunk === 'string') written.lines++;
      return writeChunk(chunk);
    };
    const { forTraining = false, grouped = false } = exporter;
    for await (const { trajectory, labels, whole } of selectedTrajectories(store, count, {
      ...selection,
      forTraining,
      grouped,
    })) {
      const chunks = made(exporter, trajectory, count, () => encoder.add(trajectory, labels));
      if (!chunks) continue;
      written.exported++;
      if (!whole) written.finishedTurns++;
      for (const chunk of chunks) await write(chunk);
    }
    for (const chunk of encoder.end()) await write(chunk);
  }

  if (typeof target !== 'string') {
    await writeAll(async (chunk) => {
      if (!target.write(chunk)) await once(target, 'drain');
    });
  } else {
    await writeFileAt(target, overwrite, (file) => writeAll((chunk) => file.appendFile(chunk)));
  }
  return { ...written, skipped };
}

export function lineByLine(exporter: LineMaker): Encoder {
  return {
    add: (trajectory, labels) => exporter.lines(trajectory, labels).map((line) => `${line}\n`),
    end: () => [],
  };
}

/** Undefined for a trajectory that gives nothing, which is reported. */
export function made<T>(
  exporter: Pick<LineMaker, 'leavesOut'>,
  trajectory: Trajectory,
  onSkip: (rollout: SkippedRollout) => void,
  make: () => T,
): T | undefined {
  const { query, sample } = trajectory.rollout;
  const skip = (outcome: WhySkipped, problem: string | null): undefined =>
    void onSkip({ query: query.queryId, sample, outcome, problem });
  try {
    const left = exporter.leavesOut?.(trajectory);
    return left ? skip(left, null) : make();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return skip('broken', error.message);
  }
}

export interface ExportedSample {
  readonly query: string;
  readonly sample: number;
  /** Without newlines at their ends. */
  readonly lines: readonly string[];
  /** The sample's id in the file; null if the format has none. */
  readonly id: string | null;
  /** As LineMaker.former. */
  readonly former: { readonly id: string; readonly lines: readonly string[] } | undefined;
}

/** The content of an export of lines, trajectory by trajectory. */
export async function* exportedSamples(
  store: Store,
  exporter: LineMaker,
  onSkip: (rollout: SkippedRollout) => void,
  selection: ReadingOptions = {},
): AsyncGenerator<ExportedSample> {
  const { forTraining = false, grouped = false } = exporter;
  for await (const { trajectory, labels } of selectedTrajectories(store, onSkip, {
    ...selection,
    forTraining,
    grouped,
  })) {
    const { query, sample } = trajectory.rollout;
    const one = made(exporter, trajectory, onSkip, () => ({
      id: exporter.id?.(trajectory) ?? null,
      former: exporter.former?.(trajectory),
      lines: exporter.lines(trajectory, labels),
    }));
    if (one) yield { query: query.queryId, sample, ...one };
  }
}

/** Complete or not at all, also through links; a device or a pipe is written to, never replaced. */
export async function writeFileAt(
  target: string,
  overwrite: boolean,
  fill: (file: FileHandle) => Promise<void>,
): Promise<void> {
  if (isBucketPlace(target)) {
    if (overwrite) return replaceFile(target, fill);
    if (await writeOnce(target, fill)) return;
    throw isThere(target);
  }
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
  return new UsageError(`${target} exists already.`, {
    reason: 'file-exists',
    fix: 'Replace it with --overwrite, or name another file with --out.',
  });
}

/** Replaces the fix, because advice for a waiting run does not help an export that has ended. */
export function notExported(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.cause === undefined) return error;
  const { message, reason, cause } = error;
  return new StoreError(message, { reason, fix: 'Correct that, or choose another --out, and export again.', cause });
}
