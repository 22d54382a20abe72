// Reads a zip back by its central directory, for tests: each entry's text by its name, in order.

import { crc32, inflateRawSync } from 'node:zlib';

export function zipEntries(file: Buffer): Map<string, string> {
  const end = file.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const entries = new Map<string, string>();
  const [count, start] = [file.readUInt16LE(end + 10), file.readUInt32LE(end + 16)];
  for (let i = 0, at = start; i < count; i++) {
    if (file.readUInt32LE(at) !== 0x02014b50) throw new Error(`entry ${i} is not at ${at}`);
    const [crc, packed, size] = [16, 20, 24].map((field) => file.readUInt32LE(at + field)) as [number, number, number];
    const [named, more] = [file.readUInt16LE(at + 28), file.readUInt16LE(at + 30)];
    const name = file.toString('utf8', at + 46, at + 46 + named);
    const local = file.readUInt32LE(at + 42);
    if (file.toString('utf8', local + 30, local + 30 + named) !== name) throw new Error(`${name} is not at ${local}`);
    const data = local + 30 + named + file.readUInt16LE(local + 28);
    const bytes = inflateRawSync(file.subarray(data, data + packed));
    if (bytes.length !== size || crc32(bytes) !== crc) throw new Error(`${name} is not what its directory says`);
    if (entries.has(name)) throw new Error(`${name} is there twice`);
    entries.set(name, bytes.toString());
    at += 46 + named + more;
  }
  return entries;
}
