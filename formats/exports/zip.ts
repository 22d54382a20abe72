// A zip file as a stream: each entry is deflated when it comes, and the directory of all entries stands at the end. Memory:
// one entry, and the directory. More than 65,534 entries, or 4 GB, are zip64; one entry alone must be smaller.

import { constants, crc32, deflateRawSync } from 'node:zlib';

interface Packed {
  readonly size: number;
  readonly crc: number;
  readonly deflated: readonly Uint8Array[];
}

/** An entry whose text comes in parts, each deflated by itself. */
export function openPacked() {
  let [size, crc] = [0, 0];
  const deflated: Uint8Array[] = [];
  return {
    push(text: string): void {
      const bytes = Buffer.from(text);
      size += bytes.length;
      crc = crc32(bytes, crc);
      deflated.push(deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }));
    },
    end: (): Packed => ({ size, crc, deflated: [...deflated, deflateRawSync('')] }),
  };
}

export function packed(text: string): Packed {
  const one = openPacked();
  one.push(text);
  return one.end();
}

const MOST_16 = 0xffff;
const MOST_32 = 0xffffffff;
const VERSION = 45;
const UTF_8 = 0x800;
const DEFLATED = 8;
/** 1 January 1980: the same records give the same bytes. */
const DATE = 0x21;

export function openZip() {
  let offset = 0;
  // As texts of bytes: a small buffer would keep the whole pool alive that it was cut from.
  const directory: string[] = [];
  const placed = (...parts: readonly Uint8Array[]): Uint8Array => {
    const bytes = Buffer.concat(parts);
    offset += bytes.length;
    return bytes;
  };
  return {
    add(name: string, { size, crc, deflated }: Packed): Uint8Array {
      const named = Buffer.from(name);
      const length = deflated.reduce((sum, part) => sum + part.length, 0);
      const isFar = offset >= MOST_32;
      const far = isFar ? [u16(1, 8), u64(offset)] : [];
      const facts = [u16(VERSION, UTF_8, DEFLATED, 0, DATE), u32(crc, length, size), u16(named.length)];
      const central = [u32(0x02014b50), u16(VERSION), ...facts, u16(isFar ? 12 : 0, 0, 0, 0)];
      const entry = Buffer.concat([...central, u32(0, Math.min(offset, MOST_32)), named, ...far]);
      directory.push(entry.toString('latin1'));
      return placed(u32(0x04034b50), ...facts, u16(0), named, ...deflated);
    },
    *end(): Generator<Uint8Array> {
      const start = offset;
      const entries = directory.length;
      for (const entry of directory) yield placed(Buffer.from(entry, 'latin1'));
      const [end, length] = [offset, offset - start];
      if (entries >= MOST_16 || end >= MOST_32) {
        yield placed(u32(0x06064b50), u64(44), u16(VERSION, VERSION), u32(0, 0), u64(entries, entries, length, start));
        yield placed(u32(0x07064b50, 0), u64(end), u32(1));
      }
      const counted = Math.min(entries, MOST_16);
      yield placed(u32(0x06054b50), u16(0, 0, counted, counted), u32(length, Math.min(start, MOST_32)), u16(0));
    },
  };
}

type Numbers = readonly number[];
const u16 = (...values: Numbers): Uint8Array => littleEndian(values, 2);
const u32 = (...values: Numbers): Uint8Array => littleEndian(values, 4);
const u64 = (...values: Numbers): Uint8Array => littleEndian(values, 8);

function littleEndian(values: Numbers, width: 2 | 4 | 8): Uint8Array {
  const out = Buffer.alloc(values.length * width);
  for (const [i, value] of values.entries()) {
    out.writeUIntLE(value % 2 ** 32, i * width, Math.min(width, 4));
    if (width === 8) out.writeUInt32LE(Math.floor(value / 2 ** 32), i * width + 4);
  }
  return out;
}
