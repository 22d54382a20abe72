// The zip of a pack, as any unzip opens it: entries one after the other, each deflated by itself, then their directory.
// Written and read in exactly one form (no comment, no extra field, fixed times, at most 65,535 entries and 4 GB), so that
// a reader proves with little work that nothing was cut, added or moved. Not covered: other zips.

import { crc32, deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib';
import { promisify } from 'node:util';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Level 1: within a tenth of the size of level 6, at a third of the time. */
const LEVEL = 1;
export const MAX_ENTRIES = 65_535;
const MAX_BYTES = 0xffff_ffff;

export interface ZipEntry {
  readonly name: string;
  /** Of the name's local header. */
  readonly offset: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly crc: number;
}

const UTF8 = 0x0800;
const DEFLATED = 8;
/** 1 January 1980, the first day of zip. */
const DATE = 0x21;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

/** The common part of both headers, from `version needed` to `extra length`. */
function writeFacts(to: Buffer, at: number, { name, packedBytes, bytes, crc }: ZipEntry): void {
  to.writeUInt16LE(20, at);
  to.writeUInt16LE(UTF8, at + 2);
  to.writeUInt16LE(DEFLATED, at + 4);
  to.writeUInt16LE(0, at + 6);
  to.writeUInt16LE(DATE, at + 8);
  to.writeUInt32LE(crc, at + 10);
  to.writeUInt32LE(packedBytes, at + 14);
  to.writeUInt32LE(bytes, at + 18);
  to.writeUInt16LE(Buffer.byteLength(name), at + 22);
}

function localHeader(entry: ZipEntry): Buffer {
  const header = Buffer.alloc(LOCAL_BYTES);
  header.writeUInt32LE(0x04034b50, 0);
  writeFacts(header, 4, entry);
  return Buffer.concat([header, Buffer.from(entry.name)]);
}

function centralHeader(entry: ZipEntry): Buffer {
  const header = Buffer.alloc(CENTRAL_BYTES);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(0x031e, 4); // made on Unix: the rights below count
  writeFacts(header, 6, entry);
  header.writeUInt32LE((0o100644 << 16) >>> 0, 38);
  header.writeUInt32LE(entry.offset, 42);
  return Buffer.concat([header, Buffer.from(entry.name)]);
}

export interface ZipWriter {
  /** Bytes so far. */
  readonly size: number;
  readonly entries: readonly ZipEntry[];
  /** Returns what to write next. Calls must not overlap. */
  add(name: string, packed: Packed): readonly Buffer[];
  end(): Buffer;
}

export interface Packed {
  readonly data: Buffer;
  readonly bytes: number;
  readonly crc: number;
}

export async function packed(text: string): Promise<Packed> {
  const bytes = Buffer.from(text);
  return { data: await deflate(bytes, { level: LEVEL }), bytes: bytes.length, crc: crc32(bytes) };
}

export function openZipWriter(): ZipWriter {
  const entries: ZipEntry[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    entries,
    add(name, { data, bytes, crc }) {
      const entry = { name, offset: size, packedBytes: data.length, bytes, crc };
      const header = localHeader(entry);
      entries.push(entry);
      size += header.length + data.length;
      if (size > MAX_BYTES || entries.length > MAX_ENTRIES) throw new RangeError('a pack is too large for a zip');
      return [header, data];
    },
    end() {
      const directory = Buffer.concat(entries.map(centralHeader));
      const end = Buffer.alloc(END_BYTES);
      end.writeUInt32LE(0x06054b50, 0);
      end.writeUInt16LE(entries.length, 8);
      end.writeUInt16LE(entries.length, 10);
      end.writeUInt32LE(directory.length, 12);
      end.writeUInt32LE(size, 16);
      return Buffer.concat([directory, end]);
    },
  };
}

/** Reads `bytes` bytes at a place of the file; fewer only at its end. */
export type ReadAt = (offset: number, bytes: number) => Promise<Buffer>;

/** The entries by name, in the order of the file; each is read from the directory's bytes when it is asked for. */
export class ZipDirectory {
  readonly #bytes: Buffer;
  /** The place of each entry in `bytes`. */
  readonly #places: Int32Array;
  readonly size: number;
  /** A name that two entries have. */
  readonly doubled: string | undefined;
  /** Entries by the hash of their name, the next free slot where several have one; -1 is free. */
  readonly #slots: Int32Array;

  constructor(bytes: Buffer, places: readonly number[]) {
    this.#bytes = bytes;
    this.#places = Int32Array.from(places);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * places.length + 2))).fill(-1);
    this.size = places.length;
    let doubled: string | undefined;
    for (const [n, at] of places.entries()) {
      const name = nameAt(bytes, at);
      const slot = this.#slotOf(name);
      if (this.#slots[slot] !== -1) doubled ??= name;
      this.#slots[slot] = n;
    }
    this.doubled = doubled;
  }

  has(name: string): boolean {
    return this.#slots[this.#slotOf(name)] !== -1;
  }

  get(name: string): ZipEntry | undefined {
    const n = this.#slots[this.#slotOf(name)]!;
    return n === -1 ? undefined : entryAt(this.#bytes, this.#places[n]!);
  }

  *keys(): Generator<string> {
    for (const at of this.#places) yield nameAt(this.#bytes, at);
  }

  #slotOf(name: string): number {
    const last = this.#slots.length - 1;
    for (let slot = crc32(name) & last; ; slot = (slot + 1) & last) {
      const n = this.#slots[slot]!;
      if (n === -1 || nameAt(this.#bytes, this.#places[n]!) === name) return slot;
    }
  }
}

function nameAt(directory: Buffer, at: number): string {
  return directory.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + directory.readUInt16LE(at + 28));
}

function entryAt(directory: Buffer, at: number): ZipEntry {
  return {
    name: nameAt(directory, at),
    offset: directory.readUInt32LE(at + 42),
    packedBytes: directory.readUInt32LE(at + 20),
    bytes: directory.readUInt32LE(at + 24),
    crc: directory.readUInt32LE(at + 16),
  };
}

/** The directory of a zip of `size` bytes, or what is wrong with it. */
export async function readDirectory(size: number, readAt: ReadAt): Promise<ZipDirectory | { problem: string }> {
  const cut = { problem: 'is cut or changed: its directory is not where its end says' };
  if (size < END_BYTES) return cut;
  const end = await readAt(size - END_BYTES, END_BYTES);
  if (end.length < END_BYTES || end.readUInt32LE(0) !== 0x06054b50) return cut;
  const [count, length, offset] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  if (offset + length + END_BYTES !== size) return cut;
  const directory = await readAt(offset, length);
  const places: number[] = [];
  let at = 0;
  let next = 0;
  for (let n = 0; n < count; n++) {
    if (at + CENTRAL_BYTES > directory.length) return cut;
    const entry = entryAt(directory, at);
    const right = centralHeader(entry);
    if (entry.offset !== next || !right.equals(directory.subarray(at, at + right.length)))
      return { problem: `has an entry ${n + 1} in its directory that is not ours` };
    places.push(at);
    at += right.length;
    next += LOCAL_BYTES + directory.readUInt16LE(places.at(-1)! + 28) + entry.packedBytes;
  }
  if (at !== length || next !== offset) return cut;
  // A part of what was read ahead would hold all of it.
  const entries = new ZipDirectory(Buffer.from(directory), places);
  return entries.doubled === undefined ? entries : { problem: `has two entries ${entries.doubled}` };
}

/** Less is inflated at once: a stream and a thread for each small entry cost several times the work itself. */
const AT_ONCE_BYTES = 1 << 20;
/** No deflated text is smaller than this part of it. */
const MOST_TIMES = 1032;
/** A chunk that is filled to its end makes zlib take another one. */
const CHUNK_MARGIN = 64;

/** The text of one entry, or what is wrong with it. Takes no more memory than the directory says. */
export async function readEntry(entry: ZipEntry, readAt: ReadAt): Promise<string | { problem: string }> {
  const header = localHeader(entry);
  const found = await readAt(entry.offset, header.length + entry.packedBytes);
  if (found.length < header.length + entry.packedBytes) return { problem: 'is cut' };
  if (!header.equals(found.subarray(0, header.length))) return { problem: 'is changed: its header is not ours' };
  try {
    const data = found.subarray(header.length);
    const maxOutputLength = Math.max(1, entry.bytes);
    if (entry.bytes > (data.length + 1) * MOST_TIMES) throw new RangeError('more than can be in it');
    const bytes =
      entry.bytes <= AT_ONCE_BYTES
        ? inflateRawSync(data, { maxOutputLength, chunkSize: entry.bytes + CHUNK_MARGIN })
        : await inflate(data, { maxOutputLength });
    if (bytes.length === entry.bytes && crc32(bytes) === entry.crc) return bytes.toString('utf8');
  } catch {
    // The message of zlib would say less.
  }
  return { problem: 'is changed: its content has another checksum' };
}
