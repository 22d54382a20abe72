// A segment, `ended/<writer>.jsonl`, and its index, as a reader looks at them while their writer appends. The writer
// (disk/segment-writer.ts) makes a segment before its index, names a line there only once it is whole and durable, and removes an
// empty index before its segment. So a reader that measures the index first, then the segment, and reads neither beyond
// these sizes has every line that the index names; a tail without a newline is not there yet. All else is damage. The index
// only saves reading: where it is missing, short or wrong, the segment is read instead.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { RolloutRow } from '../../domain/rollout/rollout-row.ts';
import { codeOf, fileError } from '../disk/errors.ts';
import { indexOf } from '../disk/segment-writer.ts';
import { openLine } from './line.ts';
import type { Place } from './places.ts';
import { endedRow } from './row.ts';

/** A line of an index: where the rollout is in the segment, and what a list shows of it. */
export interface IndexEntry extends RolloutRow {
  readonly at: number;
  readonly bytes: number;
}

/** With a checksum of the rest: a reader that finds another one reads the segment instead. */
export function indexLine(entry: IndexEntry): string {
  const text = JSON.stringify(entry).slice(0, -1);
  return `${text}${CHECKSUM}${crc32(text, FORM)}}\n`;
}
const CHECKSUM = ',"crc32":';
/** Begins the checksum. Raised with each change of IndexEntry: an index of another form is then read as a damaged one. */
const FORM = 1;

/** Bytes of whole lines, and bytes of the index that name some of them. */
export interface Extent {
  covered: number;
  indexed: number;
}

export const nothingRead = (): Extent => ({ covered: 0, indexed: 0 });

/** The sizes of a segment and its index, in the order in which they are true of each other. */
export function measured(segment: string): Extent {
  const indexed = sizeOf(indexOf(segment)) ?? 0;
  return { indexed, covered: sizeOf(segment) ?? 0 };
}

export interface Reading {
  readonly path: string;
  /** False: without its index, which was found to be wrong. */
  readonly trusted: boolean;
  readonly onFlaw?: (problem: string) => void;
}

/** The entries of whole lines between two extents; `from` is moved behind each one before it is handed out. */
export function* entriesBetween(from: Extent, to: Readonly<Extent>, reading: Reading): Generator<IndexEntry> {
  if (reading.trusted) yield* indexedEntries(from, to, reading);
  yield* readEntries(from, to, reading);
}

function* indexedEntries(from: Extent, to: Readonly<Extent>, { path, onFlaw }: Reading): Generator<IndexEntry> {
  for (const { line } of linesBetween(indexOf(path), from.indexed, to.indexed)) {
    const entry = entryOf(line);
    if (!entry || entry.at > from.covered) return;
    const end = entry.at + entry.bytes;
    if (end > to.covered)
      return onFlaw?.(
        `ends at byte ${to.covered}, where its index names a line up to byte ${end}: one of them is cut, or another’s`,
      );
    from.indexed += line.length;
    // Read from the segment itself, before its index had it.
    if (entry.at < from.covered) continue;
    from.covered = end;
    yield entry;
  }
}

function entryOf(line: Buffer): IndexEntry | undefined {
  const end = line.lastIndexOf(CHECKSUM);
  const sum = end < 0 ? NaN : Number(line.toString('latin1', end + CHECKSUM.length, line.length - 2));
  if (crc32(line.subarray(0, Math.max(0, end)), FORM) !== sum) return undefined;
  return JSON.parse(`${line.toString('utf8', 0, end)}}`) as IndexEntry;
}

function* readEntries(from: Extent, to: Readonly<Extent>, { path, onFlaw }: Reading): Generator<IndexEntry> {
  for (const { line, at } of linesBetween(path, from.covered, to.covered)) {
    from.covered = at + line.length;
    const rollout = openLine(line);
    if (rollout) yield { at, bytes: line.length, ...endedRow(rollout) };
    else onFlaw?.(`is changed at byte ${at}: no line of an ended rollout is there`);
  }
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Several segments are read side by side. */
const BLOCK_BYTES = 256 * 1024;
const NEWLINE = 10;

/** Whole lines with their newline; what follows the last one is left out. The file is open only while a block is read. */
function* linesBetween(
  path: string,
  from: number,
  to: number,
): Generator<{ readonly line: Buffer; readonly at: number }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let at = from; at + rest.length < to;) {
    const left = to - at - rest.length;
    // A line that is longer than a block is read in ever larger ones.
    const block = Buffer.allocUnsafe(rest.length + Math.min(left, Math.max(BLOCK_BYTES, rest.length)));
    rest.copy(block);
    const read = readAt(path, block, rest.length, at + rest.length);
    if (read === 0) return;
    const bytes = block.subarray(0, rest.length + read);
    let start = 0;
    for (let end; (end = bytes.indexOf(NEWLINE, start)) >= 0; start = end + 1)
      yield { line: bytes.subarray(start, end + 1), at: at + start };
    at += start;
    rest = bytes.subarray(start);
  }
}

/** Fills the block from `offset` on. Returns the bytes that were read: 0 where there are none, or no file. */
function readAt(path: string, block: Buffer, offset: number, at: number): number {
  const file = opened(path);
  if (file === undefined) return 0;
  try {
    return readSync(file, block, offset, block.length - offset, at);
  } catch (error) {
    throw fileError('read', path, error);
  } finally {
    closeSync(file);
  }
}

/** Undefined where there is none. A link in the place of an index is as none: it would only save reading. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, READ);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return undefined;
    throw fileError('read', path, error);
  }
}

/** The size of an opened file: a network file system may answer for one that is not open from its memory. */
export function sizeOf(path: string): number | undefined {
  const file = opened(path);
  if (file === undefined) return undefined;
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

/** Undefined where that is not in the file. */
export function readPlace(path: string, { at, bytes }: Place): Buffer | undefined {
  const line = Buffer.allocUnsafe(bytes);
  return readAt(path, line, 0, at) === bytes ? line : undefined;
}
