// Parquet: one row a row, by the same rules. Row groups are read one at a time, and refused above a size, so memory holds
// one of them. Inexact numbers are marked; a cell that is not UTF-8 makes its own row bad.

import { isUtf8 } from 'node:buffer';
import { closeSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
  snappyUncompress,
} from 'hyparquet';
import { DatasetError } from '../../domain/errors/errors.ts';
import { openRegular } from '../../local/machine/regular-file.ts';
import { datasetOf, type NumberedRow } from './read-rows.ts';
import type { RowReading } from './row.ts';
import type { Dataset } from './dataset.ts';
import type { ReadLine } from './json-line.ts';
import { rowFault } from './row-fault.ts';

const readAt = promisify(read);
const MAX_GROUP_BYTES = 1 << 30;
const MAX_METADATA_BYTES = 64 << 20;

export function parquetDataset(path: string, reading?: RowReading, files = [path]): Dataset {
  return datasetOf({ path, files, batches, emptyFix: 'Write at least one row.' }, reading);
}

async function* batches(file: string): AsyncGenerator<NumberedRow[]> {
  const { fd, size } = openRegular(file);
  // The library reads ahead where nobody waits yet, so a read never rejects: it gives nothing, and the error stays here.
  let failed: unknown;
  try {
    const slice = async (start: number, end = size): Promise<ArrayBuffer> => {
      try {
        if (!(start >= 0 && start <= end && end <= size))
          throw new Error(`it names bytes ${start} to ${end} of ${size}`);
        const bytes = Buffer.allocUnsafeSlow(end - start);
        const { bytesRead } = await readAt(fd, bytes, 0, bytes.length, start);
        if (bytesRead < bytes.length) throw new Error('it ends before its content');
        return bytes.buffer;
      } catch (error) {
        failed ??= error;
        return new ArrayBuffer(0);
      }
    };
    for await (const rows of groups(file, { byteLength: size, slice })) {
      if (failed !== undefined) throw failed;
      yield rows;
    }
  } catch (error) {
    throw translated(file, failed ?? error);
  } finally {
    closeSync(fd);
  }
}

async function* groups(file: string, source: AsyncBuffer): AsyncGenerator<NumberedRow[]> {
  if (source.byteLength < 12) throw new Error('it is too short');
  const tail = new DataView(await source.slice(source.byteLength - 8));
  if (tail.getUint32(0, true) > Math.min(MAX_METADATA_BYTES, source.byteLength))
    throw new Error('its footer is too large');
  const metadata = await parquetMetadataAsync(source, { geoparquet: false });
  const schema = parquetSchema(metadata);
  const leaves = leavesOf(schema);
  let number = 0;
  for (const [i, group] of metadata.row_groups.entries()) {
    const rows = Number(group.num_rows);
    mustFit(file, i, group);
    mustMatch(group, leaves);
    const options = { file: source, compressors: COMPRESSORS, geoparquet: false, parsers: { stringFromBytes } };
    const one: FileMetaData = { ...metadata, row_groups: [group], num_rows: group.num_rows };
    const read = await parquetReadObjects({ ...options, metadata: one });
    if (read.length !== rows) throw new Error(`row group ${i} has ${read.length} rows and says ${rows}`);
    yield read.map((row) => ({ number: ++number, read: plainRow(row, schema) }));
  }
}

function mustFit(file: string, index: number, { columns, num_rows: rows }: FileMetaData['row_groups'][number]): void {
  const bytes = columns.reduce((sum, column) => sum + Number(column.meta_data?.total_uncompressed_size ?? 0), 0);
  // Even a row of nulls takes a few bytes in memory, and none in a file.
  if (bytes <= MAX_GROUP_BYTES && Number(rows) <= MAX_GROUP_BYTES / 64 && bytes >= 0 && Number(rows) >= 0) return;
  throw new DatasetError(`${file}: row group ${index} has ${rows} rows of ${Math.ceil(bytes / 2 ** 20)} MiB`, {
    reason: 'dataset-unreadable',
    fix: 'Write it with smaller row groups: df.to_parquet(path, row_group_size=10000).',
  });
}

const leavesOf = ({ path, children }: SchemaTree): string[] =>
  children.length === 0 ? [path.join('.')] : children.flatMap(leavesOf);

/** The reader begins all columns of a group at once: one that it cannot place would reject unhandled. */
function mustMatch({ columns }: FileMetaData['row_groups'][number], leaves: readonly string[]): void {
  const found = columns.map(({ meta_data: column }) => column?.path_in_schema.join('.'));
  if (JSON.stringify(found) !== JSON.stringify(leaves)) throw new Error('its columns are not those of its schema');
}

function plainRow(row: Readonly<Record<string, unknown>>, schema: SchemaTree): ReadLine {
  const json: Record<string, unknown> = {};
  for (const child of schema.children) {
    const name = child.element.name;
    const value = plainValue(row[name], child);
    if (value === UNREADABLE)
      return { fault: rowFault(name, 'holds bytes that are not UTF-8 or not JSON', 'Write texts as UTF-8.') };
    Object.defineProperty(json, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return { json, inexact: new Set() };
}

const stringFromBytes = (bytes: Uint8Array | undefined): unknown => {
  if (!bytes) return undefined;
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : UNREADABLE;
};

/** A page says its own size; what it holds beyond that is refused, not allocated. */
function limited(
  unpack: (bytes: Uint8Array, size: number) => Uint8Array,
): (bytes: Uint8Array, size: number) => Uint8Array {
  return (bytes, size) => {
    if (size < 0 || size > MAX_GROUP_BYTES) throw new Error(`a page of ${size} bytes`);
    return unpack(bytes, size);
  };
}

const COMPRESSORS: Compressors = {
  SNAPPY: limited((bytes, size) => {
    const page = new Uint8Array(size);
    snappyUncompress(bytes, page);
    return page;
  }),
  GZIP: limited((bytes, size) => gunzipSync(bytes, { maxOutputLength: Math.max(size, 1) })),
  BROTLI: limited((bytes, size) => brotliDecompressSync(bytes, { maxOutputLength: Math.max(size, 1) })),
  ZSTD: limited((bytes, size) => decompress(bytes, new Uint8Array(size))),
};

function translated(file: string, error: unknown): unknown {
  if (error instanceof DatasetError || (error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const codec = /unsupported compression codec: (\w+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return new DatasetError(codec ? `${file} is packed with ${codec}` : `${file} is not a whole Parquet file`, {
    reason: 'dataset-unreadable',
    fix: codec
      ? "Write it with snappy, gzip, brotli or zstd: df.to_parquet(path, compression='snappy')."
      : 'Write it again, or give JSON lines.',
    cause: error,
  });
}

/** The value in place of a text whose bytes are not UTF-8. */
const UNREADABLE: unique symbol = Symbol('unreadable');

function plainValue(value: unknown, node: SchemaTree | undefined): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return plainNumber(value, node);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (typeof value !== 'object') return value;
  if (ArrayBuffer.isView(value)) return UNREADABLE;
  if (Array.isArray(value)) return all(value.map((item) => plainValue(item, elementOf(node))));
  const made: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const child = node?.children.find(({ element }) => element.name === name);
    const plain = plainValue(item, child);
    if (plain === UNREADABLE) return UNREADABLE;
    Object.defineProperty(made, name, { value: plain, enumerable: true, writable: true, configurable: true });
  }
  return made;
}

const all = (items: readonly unknown[]): unknown => (items.includes(UNREADABLE) ? UNREADABLE : items);

/** The node of a list's element: `list.element`, or the repeated node itself. */
function elementOf(node: SchemaTree | undefined): SchemaTree | undefined {
  if (node?.element.repetition_type === 'REPEATED') return node;
  const [repeated] = node?.children ?? [];
  return repeated?.children.length === 1 ? repeated.children[0] : repeated;
}

function plainNumber(value: number, node: SchemaTree | undefined): number {
  const element = node?.element;
  if (element?.converted_type === 'DECIMAL' && Number.isFinite(value)) return Number(value.toFixed(element.scale ?? 0));
  if (element?.type !== 'FLOAT' || Number.isInteger(value)) return value;
  // The shortest decimal that is this float32.
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
