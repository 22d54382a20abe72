// A torn record of a rollout. Our own writes are atomic, but a power cut, a broken disk or an interrupted copy may
// truncate a file. If no later record refers to it, it counts as never written: readers ignore it, the writer moves it
// aside and writes again, `check` names it. Otherwise it stays an error.

import { randomBytes } from 'node:crypto';
import { mkdir, rename, rmdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../domain/errors/errors.ts';
import { inBucket } from '../bucket/files.ts';
import { isOlderThan } from '../disk/clock.ts';
import { codeOf, fileError, recordError } from '../disk/errors.ts';
import { NODE_FILES } from '../disk/file-layer.ts';
import { temporaryName } from '../disk/writer.ts';
import { basename, dirname, join } from '../place.ts';
import { namesIn } from './listing.ts';
import { readText } from '../disk/write-once.ts';
import { parseRolloutFile, type RolloutFile } from '../format/rollout-file.ts';

/** The result of a read or write; undefined if it hit a torn record that no later record refers to. */
export async function unlessTorn<T>(folder: string, file: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'record-torn') throw error;
    const below = parseRolloutFile(file);
    // Its tool may have been called: nobody may write it again, and call a second time.
    const final = below.kind === 'intent';
    if (!final && !(await namesIn(folder)).some((name) => standsOn(parseRolloutFile(name), below))) return undefined;
    const path = join(folder, file);
    throw recordError(path, error.message.slice(path.length + 1));
  }
}

const STALE_LOCK_MS = 10_000;

/**
 * Keeps it as evidence, under a name that no reader opens. A whole record is never moved: only the holder of the lock
 * removes the file, and while a torn file has the name, nobody can write there.
 */
export async function setAside(path: string): Promise<void> {
  // An object appears whole, so this is a copy that was cut; no request moves it without a moment in which two may.
  if (inBucket(path)) throw recordError(path, 'is torn: its end is missing');
  const lock = join(dirname(path), temporaryName(basename(path), 'aside'));
  try {
    await mkdir(lock);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fileError('write', path, error);
    if (await isOlderThan(lock, STALE_LOCK_MS, dirname(path), NODE_FILES)) await rmdir(lock).catch(() => {});
    return sleep(20);
  }
  try {
    const text = await readText(path);
    if (text === undefined || text.endsWith('}\n')) return;
    await rename(path, join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.torn`));
  } catch (error) {
    throw fileError('write', path, error);
  } finally {
    await rmdir(lock).catch(() => {});
  }
}

function standsOn(file: RolloutFile, below: RolloutFile): boolean {
  switch (below.kind) {
    case 'rollout':
      return file.kind !== 'rollout' && file.kind !== 'harmless' && file.kind !== 'foreign';
    case 'turn':
      return (
        file.kind === 'end' ||
        (file.kind === 'turn' && file.turn > below.turn) ||
        (file.kind === 'say' && file.turn > below.turn) ||
        ((file.kind === 'verdict' || file.kind === 'call' || file.kind === 'intent') && file.turn >= below.turn)
      );
    case 'verdict':
      return file.kind === 'end' || (file.kind === 'turn' && file.turn > below.turn);
    case 'call':
      return file.kind === 'end' || (file.kind === 'verdict' && file.turn >= below.turn);
    case 'say':
      return file.kind === 'end' || (file.kind === 'turn' && file.turn >= below.turn);
    case 'agent':
      return file.kind === 'end' || (file.kind === 'agent' && file.entry > below.entry);
    case 'chunk':
      return file.kind === 'chunk' && file.turn === below.turn && file.chunk > below.chunk;
    default:
      return false;
  }
}
