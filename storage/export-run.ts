// Writes a run's complete trajectories through an exporter to a file or a stream. The file appears complete or not at
// all; memory holds one trajectory. Incomplete and damaged rollouts are counted and named, never exported; for
// undecided ones the finished turns can be requested.

import { once } from 'node:events';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { StoreError, UsageError } from '../domain/errors.ts';
import type { Outcome } from '../domain/ending.ts';
import type { RolloutId } from '../domain/ids.ts';
import { finishedTurns, type UndecidedPolicy } from '../domain/finished-turns.ts';
import type { Trajectory } from '../domain/trajectory.ts';
import { fileError } from './disk/errors.ts';
import type { Store } from './store.ts';
import { readTrajectories } from './trajectories.ts';
import { replaceFile, writeOnce } from './disk/write-once.ts';

/** The part of an exporter that this file uses. */
export interface LineMaker {
  /** Its lines are for training: answers without token ids are refused. */
  readonly forTraining?: boolean;
  lines(trajectory: Trajectory): string[];
  /** The sample's id in the file. */
  id?(trajectory: Trajectory): string;
  /** Lines as an older Everturn wrote them, if today's differ. */
  former?(trajectory: Trajectory): { readonly id: string; readonly lines: readonly string[] } | undefined;
}

/** `unfinished` is in flight; `broken` has damaged records; `not-trainable` has answers without token ids. */
export type WhySkipped = Outcome | 'unfinished' | 'broken' | 'not-trainable';

export interface SkippedRollout {
  readonly query: string;
  readonly sample: number;
  readonly outcome: WhySkipped;
  /** The fault; null if there is none. */
  readonly problem: string | null;
}

export interface ExportSummary {
  /** Trajectories written. */
  readonly exported: number;
  /** Those of them that are finished turns of an undecided rollout. */
  readonly finishedTurns: number;
  /** Trajectories left out, by outcome. */
  readonly skipped: Partial<Record<WhySkipped, number>>;
}

export interface ExportOptions {
  /** Default `drop`. */
  readonly undecided?: UndecidedPolicy;
  readonly onSkip?: (rollout: SkippedRollout) => void;
  /** Whether an existing file is replaced (default) or refused. */
  readonly overwrite?: boolean;
}

/** `target`: a file's path, or a stream such as process.stdout. */
export async function exportRun(
  store: Store,
  exporter: LineMaker,
  target: string | Writable,
  { onSkip, undecided, overwrite = true }: ExportOptions = {},
): Promise<ExportSummary> {
  const written = { exported: 0, finishedTurns: 0 };
  const skipped: Partial<Record<WhySkipped, number>> = {};
  const count = (rollout: SkippedRollout): void => {
    skipped[rollout.outcome] = (skipped[rollout.outcome] ?? 0) + 1;
    onSkip?.(rollout);
  };
  const samples = exportedSamples(store, exporter, count, undecided);
  async function writeAll(write: (text: string) => Promise<void>): Promise<void> {
    for await (const { lines, whole } of samples) {
      written.exported++;
      if (!whole) written.finishedTurns++;
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
  return { ...written, skipped };
}

export interface ExportedSample {
  readonly query: string;
  readonly sample: number;
  /** False: only the finished turns of an undecided rollout. */
  readonly whole: boolean;
  /** Without newlines at their ends. */
  readonly lines: readonly string[];
  /** The sample's id in the file; null if the format has none. */
  readonly id: string | null;
  /** As LineMaker.former. */
  readonly former: { readonly id: string; readonly lines: readonly string[] } | undefined;
}

/** The content of an export, trajectory by trajectory. */
export async function* exportedSamples(
  store: Store,
  exporter: LineMaker,
  onSkip: (rollout: SkippedRollout) => void,
  undecided: UndecidedPolicy = 'drop',
): AsyncGenerator<ExportedSample> {
  const onBroken = ({ query, sample }: RolloutId, { message: problem }: StoreError) =>
    onSkip({ query, sample, outcome: 'broken', problem });
  for await (const played of readTrajectories(store, { onBroken })) {
    const { query, sample } = played.rollout;
    const skip = (outcome: WhySkipped, problem: string | null = null) =>
      onSkip({ query: query.queryId, sample, outcome, problem });
    const outcome = played.end?.outcome ?? 'unfinished';
    const whole = outcome === 'complete';
    const partly = outcome === 'undecided' && undecided === 'finished-turns';
    const trajectory = whole ? played : partly ? finishedTurns(played) : undefined;
    if (!trajectory) skip(outcome);
    else if (exporter.forTraining && trajectory.turns.some(({ record }) => record.trainable === false)) {
      skip('not-trainable', 'the server gave text and no token ids');
    } else {
      try {
        const [id, former] = [exporter.id?.(trajectory) ?? null, exporter.former?.(trajectory)];
        yield { query: query.queryId, sample, whole, lines: exporter.lines(trajectory), id, former };
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        skip('broken', error.message);
      }
    }
  }
}

/** Complete or not at all, also through links; a device or a pipe is written to, never replaced. */
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
  return new UsageError(`${target} exists already.`, {
    reason: 'file-exists',
    fix: 'Replace it with --overwrite, or name another file with --out.',
  });
}

/** Replaces the fix, because advice for a waiting run does not help an export that has ended. */
function notExported(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.cause === undefined) return error;
  const { message, reason, cause } = error;
  return new StoreError(message, { reason, fix: 'Correct that, or choose another --out, and export again.', cause });
}
