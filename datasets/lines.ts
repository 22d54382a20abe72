// A file's lines as bytes, one block of the file in memory at a time. A line that is too long is counted
// and skipped, never held. LF and CRLF end a line; a byte order mark before the first is dropped.

import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream';

export interface Line {
  /** 1-based. */
  readonly number: number;
  /** Null where the line is longer than the limit. */
  readonly bytes: Buffer | null;
  /** Bytes of the whole line, its end not counted. */
  readonly length: number;
}

const BLOCK_BYTES = 1 << 20;
const LF = 10;
const CR = 13;

/** Blocks of whole lines; the last line need not end. */
export async function* readLines(path: string, maxLineBytes: number): AsyncGenerator<Line[]> {
  let number = 1;
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  function finish(tail: Buffer): Line {
    const length = pendingBytes + tail.length;
    const fits = length <= maxLineBytes;
    const bytes = !fits ? null : pending.length === 0 ? tail : Buffer.concat([...pending, tail]);
    pending = [];
    pendingBytes = 0;
    const line = { number, bytes: bytes && trimmed(bytes, number === 1), length };
    number++;
    return line;
  }

  for await (const block of blocks(path)) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = block.indexOf(LF); at >= 0; at = block.indexOf(LF, from)) {
      lines.push(finish(block.subarray(from, at)));
      from = at + 1;
    }
    const rest = block.subarray(from);
    pendingBytes += rest.length;
    if (pendingBytes > maxLineBytes) pending = [];
    else if (rest.length > 0) pending.push(rest);
    yield lines;
  }
  if (pendingBytes > 0) yield [finish(Buffer.alloc(0))];
}

function blocks(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: BLOCK_BYTES });
  if (!path.endsWith('.gz')) return file as AsyncIterable<Buffer>;
  // pipeline ends both streams when either fails; the error itself surfaces where the lines are read.
  return pipeline(file, createGunzip({ chunkSize: BLOCK_BYTES }), () => {}) as AsyncIterable<Buffer>;
}

function trimmed(bytes: Buffer, isFirst: boolean): Buffer {
  const hasMark = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
  return hasMark || end < bytes.length ? bytes.subarray(hasMark ? 3 : 0, end) : bytes;
}
