// Opens a file that a user names, or one in a run's folder: a regular one, read as far as it was long when it was opened. A
// pipe would wait for ever, and a device never ends. Not covered: what Node loads as a module, and Temporal's own files.

import { constants as limits } from 'node:buffer';
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../../domain/errors/errors.ts';

/** Without O_NONBLOCK the opening itself would wait for a pipe's writer. */
export const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
export const NO_LINK = READ | constants.O_NOFOLLOW;

interface Opened {
  readonly fd: number;
  readonly size: number;
}

/** The caller closes it. */
export function openRegular(path: string, mostBytes?: number, flags = READ): Opened {
  const fd = openSync(path, flags);
  try {
    return { fd, size: regularSize(path, fstatSync(fd), mostBytes) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Thrown where a file is none to be read. Its code is as of an error of the file system: `EFTYPE`, or `EISDIR`. */
class NotRegular extends UsageError {
  readonly code: string;
  constructor(path: string, stats: Stats) {
    super(`${path} is ${kindOf(stats)}, not a regular file.`, {
      reason: 'bad-value',
      fix: 'Name a file on a disk; write the output of a pipe to one first.',
    });
    this.code = stats.isDirectory() ? 'EISDIR' : 'EFTYPE';
  }
}

/** Throws NotRegular. */
export function regularSize(path: string, stats: Stats, mostBytes = Number.POSITIVE_INFINITY): number {
  if (!stats.isFile()) throw new NotRegular(path, stats);
  if (stats.size <= mostBytes) return stats.size;
  throw new UsageError(`${path} has ${stats.size} bytes.`, { reason: 'bad-value', fix: `It may have ${mostBytes}.` });
}

/** No string of Node is longer. */
const MOST_BYTES = limits.MAX_STRING_LENGTH;

/** Without blocking. */
export async function readRegularText(path: string): Promise<string> {
  const file = await open(path, READ);
  try {
    const bytes = Buffer.allocUnsafe(regularSize(path, await file.stat(), MOST_BYTES));
    let read = 0;
    while (read < bytes.length) {
      const { bytesRead } = await file.read(bytes, read, bytes.length - read, read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.toString('utf8', 0, read);
  } finally {
    await file.close();
  }
}

/** With NO_LINK: a symbolic link is an error of code ELOOP. */
export function readRegular(path: string, mostBytes = MOST_BYTES, flags = READ): string {
  const { fd, size } = openRegular(path, mostBytes, flags);
  try {
    const bytes = Buffer.allocUnsafe(size);
    let read = 0;
    while (read < size) {
      const more = readSync(fd, bytes, read, size - read, read);
      if (more === 0) break;
      read += more;
    }
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(fd);
  }
}

export function streamRegular(path: string, highWaterMark?: number): Readable {
  const { fd, size } = openRegular(path);
  return createReadStream(path, { fd, start: 0, end: Math.max(size - 1, 0), ...(highWaterMark && { highWaterMark }) });
}

/** The kind of thing that is there in place of a file; null: a file, or nothing. */
export function otherThanFile(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && !stats.isFile() ? kindOf(stats) : null;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
