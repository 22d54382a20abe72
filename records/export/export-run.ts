// Writes a run's complete trajectories through an exporter to a file or a stream. The file appears complete or
// not at all, and an empty one never; memory holds one trajectory, and what the format holds. Incomplete and damaged rollouts
// are counted and named, and only a format that asks for incomplete ones gets them; for undecided ones the finished turns can be
// requested.

import { once } from 'node:events';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { StoreError, UsageError } from '../../domain/errors/errors.ts';
import type { Chunk, Exporter } from '../../domain/samples/exporter.ts';
import { fileError } from '../disk/errors.ts';
import { removeLeftovers } from '../disk/leftovers.ts';
import { isFurther, made, type ExportElsewhere, exportedParts, type PartOptions } from './exported-parts.ts';
import { selectedTrajectories, type SkippedRollout, type WhySkipped } from './selection.ts';
import { mustBeOutsideRuns } from '../run/outside-runs.ts';
import type { Store } from '../store.ts';
import { factsOf, replaceFile, writeOnce } from '../places/files.ts';
import { isOnDisk } from '../place.ts';

export interface ExportSummary {
  /** Trajectories written. */
  readonly exported: number;
  /** Lines, parts or rows written: several trajectories may make one, or one several. */
  readonly lines: number;
  /** Those of them that are finished turns of an undecided rollout. */
  readonly finishedTurns: number;
  /** Trajectories left out, by outcome. */
  readonly skipped: Partial<Record<WhySkipped, number>>;
  /** Nothing is in it, and no file was made. */
  readonly empty?: true;
}

export interface ExportOptions extends PartOptions {
  /** Used by formats of lines. */
  readonly elsewhere?: ExportElsewhere | undefined;
  readonly onSkip?: (rollout: SkippedRollout) => void;
  /** Whether an existing file is replaced (default) or refused. */
  readonly overwrite?: boolean;
}

/** `target`: a file's path, or a stream such as process.stdout. */
export async function exportRun(
  store: Store,
  exporter: Exporter,
  target: string | Writable,
  { onSkip, overwrite = true, elsewhere, ...selection }: ExportOptions = {},
): Promise<ExportSummary> {
  const written = { exported: 0, lines: 0, finishedTurns: 0 };
  const skipped: Partial<Record<WhySkipped, number>> = {};
  let firstProblem: string | null = null;
  let isEmpty = true;
  const count = (rollout: SkippedRollout): void => {
    if (rollout.outcome === 'broken') firstProblem ??= rollout.problem;
    skipped[rollout.outcome] = (skipped[rollout.outcome] ?? 0) + 1;
    onSkip?.(rollout);
  };
  async function writeAll(put: (chunk: Chunk) => Promise<void>): Promise<void> {
    const write = (chunk: Chunk): Promise<void> => {
      isEmpty &&= chunk.length === 0;
      return put(chunk);
    };
    const whole = (is: boolean) => {
      written.exported++;
      if (!is) written.finishedTurns++;
    };
    if (!exporter.open) {
      for await (const { bytes, samples, skipped: left } of exportedParts(store, exporter, selection, elsewhere)) {
        for (const one of left) count(one);
        for (const one of samples) {
          if (!one.further) whole(one.whole);
          written.lines += one.lines;
        }
        if (bytes.length > 0) await write(bytes);
      }
      return;
    }
    const encoder = exporter.open();
    const { needsIds, grouped = false, incomplete = false } = exporter;
    const writeChunk = (chunk: Chunk): Promise<void> => {
      if (typeof chunk === 'string') written.lines++;
      return write(chunk);
    };
    const chosen = { ...selection, needsIds, grouped, incomplete };
    for await (const { trajectory, labels, whole: is } of selectedTrajectories(store, count, chosen)) {
      const chunks = made(exporter, trajectory, count, () => encoder.add(trajectory, labels));
      if (!chunks) continue;
      if (!isFurther(trajectory)) whole(is);
      for (const chunk of chunks) await writeChunk(chunk);
    }
    for (const chunk of encoder.end()) await writeChunk(chunk);
    written.lines = encoder.rows ?? written.lines;
  }

  if (typeof target !== 'string') {
    const out = buffered(async (chunk) => {
      if (!target.write(chunk)) await once(target, 'drain');
    });
    await writeAll(out.write);
    await out.flush();
  } else {
    await writeFileAt(target, overwrite, async (file) => {
      const out = buffered((chunk) => file.appendFile(chunk));
      await writeAll(out.write);
      await out.flush();
      if (isEmpty || written.exported === 0) throw new NothingToWrite();
      if (overwrite && skipped.broken) await mustNotReplace(target, skipped.broken, firstProblem);
    });
  }
  return { ...written, skipped, ...((isEmpty || written.exported === 0) && { empty: true }) };
}

/** Ends a file that nothing is in, before it appears: a loader dies of an empty one, and an earlier one stays. */
class NothingToWrite extends Error {}

/** A file of before is not replaced by one that lacks what is broken. */
async function mustNotReplace(target: string, broken: number, problem: string | null): Promise<void> {
  const there = isOnDisk(target) ? await stat(target).catch(() => undefined) : await factsOf(target);
  if (!there || ('isFile' in there && !there.isFile())) return;
  const what = `${broken === 1 ? '1 rollout is' : `${broken} rollouts are`} broken`;
  throw new StoreError(`${target} stays as it was: ${what}${problem === null ? '' : `; ${problem}`}`, {
    reason: 'record-broken',
    fix: '`everturn check` names what is broken; --to with another name writes what can be read.',
  });
}

const BUFFERED_CHARS = 256 * 1024;

/** Joins short lines: a call for each one takes as long as making it. */
function buffered(write: (chunk: Chunk) => Promise<void>) {
  let lines: string[] = [];
  let chars = 0;
  const flush = async (): Promise<void> => {
    const text = lines.join('');
    lines = [];
    chars = 0;
    if (text !== '') await write(text);
  };
  return {
    flush,
    async write(chunk: Chunk): Promise<void> {
      if (typeof chunk !== 'string') {
        await flush();
        return write(chunk);
      }
      lines.push(chunk);
      chars += chunk.length;
      if (chars >= BUFFERED_CHARS) await flush();
    },
  };
}

/** Complete or not at all, also through links; a device or a pipe is written to, never replaced. */
export async function writeFileAt(
  target: string,
  overwrite: boolean,
  fill: (file: FileHandle) => Promise<void>,
): Promise<void> {
  await mustBeOutsideRuns(target);
  const inBucket = !isOnDisk(target);
  const path = inBucket ? target : await realpath(target).catch(() => resolve(target));
  try {
    const found = inBucket ? undefined : await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    if (found && !found.isFile()) return await writeDevice(path, fill);
    // A folder that may be written, and not be listed, keeps them.
    if (!inBucket) await removeLeftovers(dirname(path), basename(path)).catch(() => {});
    if (overwrite) await replaceFile(path, fill);
    else if (found || !(await writeOnce(path, fill))) throw isThere(target);
  } catch (error) {
    if (error instanceof NothingToWrite) return;
    throw inBucket ? error : notExported(fileError('write', path, error));
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
    fix: 'Replace it with --overwrite, or name another file.',
  });
}

/** Replaces the fix, because advice for a waiting run does not help an export that has ended. */
export function notExported(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.cause === undefined) return error;
  const { message, reason, cause } = error;
  return new StoreError(message, { reason, fix: 'Correct that, or choose another --to, and export again.', cause });
}
