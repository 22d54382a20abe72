// Log files that children write to directly, so the children survive their readers. Bounded: a file above its limit is
// copied to `.1` and truncated; lines written in between may be lost.

import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';

const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

/** Append mode: after a truncation the child continues at the new end. The caller closes the descriptor. */
export function openLog(file: string): number {
  return openSync(file, 'a', 0o600);
}

export function boundLog(file: string, limitBytes = LOG_LIMIT_BYTES): void {
  try {
    if (statSync(file).size <= limitBytes) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file, 0);
  } catch {
    // A log that cannot be truncated (deleted, disk full) must not end the service.
  }
}

/** The last lines, at most `bytes` of them, from byte `from` on; '' when there is no such file. */
export function logTail(file: string, lines = 20, bytes = 8192, from = 0): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const size = fstatSync(fd).size;
    const start = Math.max(from > size ? 0 : from, size - bytes);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const read = readSync(fd, buffer, 0, buffer.length, start);
    return buffer.toString('utf8', 0, read).trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function logSize(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}
