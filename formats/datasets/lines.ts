// A file's lines as text, one block of the file in memory at a time. A line that is too long is counted and skipped,
// never held. A byte order mark before the first line is dropped; a CR before the LF stays.

import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DatasetError } from '../../domain/errors/errors.ts';
import { streamRegular } from '../../local/machine/regular-file.ts';

export interface Line {
  /** 1-based. */
  readonly number: number;
  /** Null if the line is unusable: `flaw` has the reason. */
  readonly text: string | null;
  readonly flaw: 'too-long' | 'not-utf8' | 'utf16' | null;
  /** Only for a line that is too long: its bytes. */
  readonly length: number;
}

const BLOCK_BYTES = 1 << 20;
const LF = 10;

/** A file's path, or bytes in blocks no larger than the longest allowed line. */
export type Source = string | AsyncIterable<Buffer>;

/** Lines in order, in groups; the last line need not have an LF. */
export async function* readLines(source: Source, maxLineBytes: number): AsyncGenerator<Line[]> {
  let number = 1;
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  function keep(part: Buffer): void {
    pendingBytes += part.length;
    if (pendingBytes > maxLineBytes) pending = [];
    else if (part.length > 0) pending.push(part);
  }
  function lineOf(bytes: Buffer): Line {
    const text = bytes.toString('utf8');
    const at = number++;
    // The decoder puts U+FFFD for bytes that are not UTF-8; it may also occur in a good text.
    const flaw = text.includes('\ufffd') && !isUtf8(bytes) ? (isUtf16(bytes) ? 'utf16' : 'not-utf8') : null;
    return { number: at, text: flaw ? null : withoutMark(text, at), flaw, length: 0 };
  }
  function endPending(): Line {
    const length = pendingBytes;
    const bytes = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
    return length > maxLineBytes ? { number: number++, text: null, flaw: 'too-long', length } : lineOf(bytes);
  }
  /** Whole lines, each with its LF. Decoded at once: a buffer for each line would cost more than its JSON. */
  function linesOf(bytes: Buffer): Line[] {
    const all = bytes.toString('utf8');
    const lines: Line[] = [];
    if (all.includes('\ufffd')) {
      for (let from = 0, to; from < bytes.length; from = to + 1) {
        to = bytes.indexOf(LF, from);
        lines.push(lineOf(bytes.subarray(from, to)));
      }
      return lines;
    }
    for (let from = 0, to; from < all.length; from = to + 1) {
      to = all.indexOf('\n', from);
      lines.push({ number, text: withoutMark(all.slice(from, to), number), flaw: null, length: 0 });
      number++;
    }
    return lines;
  }

  for await (const block of typeof source === 'string' ? blocks(source) : source) {
    let from = 0;
    if (pendingBytes > 0) {
      from = block.indexOf(LF) + 1;
      keep(from === 0 ? block : block.subarray(0, from - 1));
      if (from === 0) continue;
      yield [endPending()];
    }
    const end = block.lastIndexOf(LF) + 1;
    // A block is no larger than the longest allowed line, so these lines are not too long.
    if (end > from) yield linesOf(block.subarray(from, end));
    keep(block.subarray(Math.max(from, end)));
  }
  if (pendingBytes > 0) yield [endPending()];
}

const HOLE = Buffer.alloc(BLOCK_BYTES);

/** A file's bytes, unpacked if its name ends in .gz. Throws at a whole block of zeros: terabytes of them take no disk. */
export async function* blocks(path: string): AsyncGenerator<Buffer> {
  const file = streamRegular(path, BLOCK_BYTES);
  // pipeline ends both streams if either fails; the error itself surfaces at the reader of the lines.
  const plain = path.endsWith('.gz') ? pipeline(file, createGunzip({ chunkSize: BLOCK_BYTES }), () => {}) : file;
  for await (const block of plain as AsyncIterable<Buffer>) {
    if (block.equals(HOLE)) throw withHole(path);
    yield block;
  }
}

function withHole(path: string): DatasetError {
  return new DatasetError(`${path} holds ${BLOCK_BYTES} zero bytes in a row: it is no text`, {
    reason: 'dataset-unreadable',
    fix: 'Was it cut off while it was written or copied? Copy or write it again.',
  });
}

function withoutMark(text: string, number: number): string {
  return number === 1 && text.startsWith('\ufeff') ? text.slice(1) : text;
}

export function isUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
