// Opens a file that a user names: a regular one, read as far as it was long when it was opened. A pipe would wait for ever,
// and a device never ends. Not covered: what Node loads as a module, and Temporal's own files.

import { closeSync, constants, createReadStream, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import type { Readable } from 'node:stream';
import { UsageError } from '../../domain/errors/errors.ts';

/** Without O_NONBLOCK the opening itself would wait for a pipe's writer. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

interface Opened {
  readonly fd: number;
  readonly size: number;
}

/** The caller closes it. */
export function openRegular(path: string): Opened {
  const fd = openSync(path, READ);
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, size: stats.size };
  closeSync(fd);
  throw new UsageError(`${path} is ${kindOf(stats)}, not a regular file.`, {
    reason: 'bad-value',
    fix: 'Name a file on a disk; write the output of a pipe to one first.',
  });
}

export function readRegular(path: string, mostBytes: number): string {
  const { fd, size } = openRegular(path);
  try {
    if (size > mostBytes) {
      throw new UsageError(`${path} has ${size} bytes.`, { reason: 'bad-value', fix: `It may have ${mostBytes}.` });
    }
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

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
