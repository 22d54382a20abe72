// queries.jsonl, the accepted rows, and queries.index, the end of each line. The lines are written once; the index is
// derived from them and rebuilt if it is missing or does not fit. Memory: one block while writing, the requested rows
// while reading, whatever the file's size.

import { createHash } from 'node:crypto';
import { StoreError } from '../../domain/errors/errors.ts';
import type { Query } from '../../domain/query/query.ts';
import { codeOf, fileError, recordError } from '../disk/errors.ts';
import { mayHoldRun } from './outside-runs.ts';
import { join } from '../place.ts';
import { INDEX_FILE, QUERIES_FILE } from '../format/layout.ts';
import type { Store } from '../store.ts';
import { factsOf, readPart, replaceFile, streamOf, writeOnce } from '../places/files.ts';

/** The line of a query; the data set's hash is the SHA-256 of these lines. */
export function queryLine(query: Query): string {
  return `${JSON.stringify(query)}\n`;
}

/** The hash of queries.jsonl with these queries, without storing them. */
export function openQueryHash() {
  const hash = createHash('sha256');
  let count = 0;
  return {
    get count() {
      return count;
    },
    put(query: Query): void {
      hash.update(queryLine(query));
      count++;
    },
    digest: () => hash.digest('hex'),
  };
}

/** Hash and number of these queries: the `dataset` of a run record. */
export async function hashQueries(
  queries: AsyncIterable<Query> | Iterable<Query>,
): Promise<{ readonly sha256: string; readonly accepted: number }> {
  const hash = openQueryHash();
  for await (const query of queries) hash.put(query);
  return { sha256: hash.digest(), accepted: hash.count };
}

const BLOCK_BYTES = 1 << 20;

/** Returns the number of stored queries: these, or those of an earlier writer. */
export async function writeQueries(folder: string, queries: AsyncIterable<Query> | Iterable<Query>): Promise<number> {
  const path = join(folder, QUERIES_FILE);
  if (await sizeOf(path)) return (await openIndex(folder)).count;
  await mayHoldRun(folder);
  const ends = new Offsets();
  const created = await writeOnce(path, async (file) => {
    let block: string[] = [];
    let blockChars = 0;
    let bytes = 0;
    const flush = async () => {
      const buffer = Buffer.from(block.join(''));
      // appendFile, not write(): write() may store only a part if the disk fills up.
      await file.appendFile(buffer);
      block = [];
      blockChars = 0;
    };
    for await (const query of queries) {
      const line = queryLine(query);
      bytes += Buffer.byteLength(line);
      ends.push(bytes);
      block.push(line);
      blockChars += line.length;
      if (blockChars >= BLOCK_BYTES) await flush();
    }
    await flush();
  });
  if (created) await writeIndex(folder, ends);
  return (await openIndex(folder)).count;
}

export async function countQueries(folder: string): Promise<number> {
  return (await sizeOf(join(folder, QUERIES_FILE))) === undefined ? 0 : (await openIndex(folder)).count;
}

export async function readQueries(folder: string, from: number, count: number): Promise<Query[]> {
  try {
    return await readLines(folder, from, count);
  } catch (error) {
    throw (await indexError(folder)) ?? error;
  }
}

async function readLines(folder: string, from: number, count: number): Promise<Query[]> {
  const path = join(folder, QUERIES_FILE);
  const index = await openIndex(folder);
  const first = Math.max(0, Math.min(from, index.count));
  const last = Math.max(first, Math.min(first + count, index.count));
  if (first === last) return [];
  const ends = await index.ends(first - 1, last);
  const begin = ends[0]!;
  const bytes = await readFully(path, begin, ends.at(-1)! - begin);
  return ends.slice(1).map((end, i) => {
    const line = bytes.toString('utf8', ends[i]! - begin, end - begin);
    try {
      if (!line.endsWith('\n')) throw new SyntaxError('the line does not end where its index says');
      return JSON.parse(line) as Query;
    } catch (error) {
      throw recordError(path, `is torn or changed at line ${first + i + 1} (${(error as Error).message})`);
    }
  });
}

/** Every accepted query, in data set order. */
export async function* allQueries(store: {
  readQueries(from: number, count: number): Promise<Query[]>;
}): AsyncGenerator<Query> {
  const PAGE = 1000;
  for (let from = 0; ; from += PAGE) {
    const page = await store.readQueries(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
  }
}

/** SHA-256 of queries.jsonl as it is on disk; undefined if it does not exist. */
export async function hashOfQueriesFile(folder: string): Promise<string | undefined> {
  const path = join(folder, QUERIES_FILE);
  const hash = createHash('sha256');
  try {
    for await (const chunk of streamOf(path)) hash.update(chunk);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
  return hash.digest('hex');
}

// The index: magic, size of queries.jsonl, then the end of each line; 8 bytes each, little-endian.
const MAGIC = 0x31786564_6e697645n; // "Evindex1"
const HEADER_BYTES = 16;

interface Index {
  readonly count: number;
  /** Ends of the lines [from, to); the end of line -1 is 0. */
  ends(from: number, to: number): Promise<number[]>;
}

async function openIndex(folder: string): Promise<Index> {
  const size = await sizeOf(join(folder, QUERIES_FILE));
  if (size === undefined) {
    throw new StoreError(`${join(folder, QUERIES_FILE)} is missing`, {
      reason: 'queries-missing',
      fix: 'The run has no accepted queries yet: start it with a data set.',
    });
  }
  return (await usableIndex(folder, size)) ?? rebuildIndex(folder);
}

async function usableIndex(folder: string, size: number): Promise<Index | undefined> {
  const path = join(folder, INDEX_FILE);
  const indexSize = await sizeOf(path);
  if (indexSize === undefined || indexSize < HEADER_BYTES || indexSize % 8 !== 0) return undefined;
  const count = (indexSize - HEADER_BYTES) / 8;
  const read = async (from: number, to: number): Promise<number[]> => {
    const bytes = await readFully(path, HEADER_BYTES + 8 * from, 8 * (to - from));
    return Array.from({ length: to - from }, (_, i) => Number(bytes.readBigUInt64LE(8 * i)));
  };
  const header = await readFully(path, 0, HEADER_BYTES);
  const [lastEnd] = count === 0 ? [0] : await read(count - 1, count);
  const fits = header.readBigUInt64LE(0) === MAGIC && Number(header.readBigUInt64LE(8)) === size && lastEnd === size;
  if (!fits) return undefined;
  return { count, ends: async (from, to) => (from < 0 ? [0, ...(await read(0, to))] : read(from, to)) };
}

async function rebuildIndex(folder: string): Promise<Index> {
  const ends = await endsOfLines(join(folder, QUERIES_FILE));
  // A folder that cannot be written can still be read.
  await writeIndex(folder, ends).catch(() => {});
  return { count: ends.count, ends: async (from, to) => ends.slice(from, to) };
}

/** The first byte at which the index is not the one of the lines, where these are whole. */
async function indexError(folder: string): Promise<StoreError | undefined> {
  const path = join(folder, INDEX_FILE);
  const found = await endsOfLines(join(folder, QUERIES_FILE)).catch(() => undefined);
  const wanted = found?.toFile();
  const index = wanted && (await readPart(path, 0, wanted.length));
  const at = index ? index.findIndex((byte, i) => byte !== wanted[i]) : -1;
  if (at < 0) return undefined;
  const message = `${path} is changed at byte ${at}: it names other ends than the lines of ${QUERIES_FILE} have`;
  return new StoreError(message, { reason: 'record-broken', fix: 'Remove this file: it is made again of the lines.' });
}

async function endsOfLines(path: string): Promise<Offsets> {
  const ends = new Offsets();
  let at = 0;
  try {
    for await (const chunk of streamOf(path)) {
      for (let i = chunk.indexOf(10); i >= 0; i = chunk.indexOf(10, i + 1)) ends.push(at + i + 1);
      at += chunk.length;
    }
  } catch (error) {
    throw fileError('read', path, error);
  }
  if (ends.last !== at) throw recordError(path, 'is torn: its last line has no end');
  return ends;
}

async function writeIndex(folder: string, ends: Offsets): Promise<void> {
  await replaceFile(join(folder, INDEX_FILE), ends.toFile());
}

/** A growing list of byte offsets, 8 bytes each. */
class Offsets {
  #values = new Float64Array(1024);
  count = 0;

  get last(): number {
    return this.count === 0 ? 0 : this.#values[this.count - 1]!;
  }

  push(value: number): void {
    if (this.count === this.#values.length) {
      const wider = new Float64Array(2 * this.count);
      wider.set(this.#values);
      this.#values = wider;
    }
    this.#values[this.count++] = value;
  }

  slice(from: number, to: number): number[] {
    const values = [...this.#values.subarray(Math.max(0, from), Math.min(to, this.count))];
    return from < 0 ? [0, ...values] : values;
  }

  toFile(): Buffer {
    const bytes = Buffer.alloc(HEADER_BYTES + 8 * this.count);
    bytes.writeBigUInt64LE(MAGIC, 0);
    bytes.writeBigUInt64LE(BigInt(this.last), 8);
    for (let i = 0; i < this.count; i++) bytes.writeBigUInt64LE(BigInt(this.#values[i]!), HEADER_BYTES + 8 * i);
    return bytes;
  }
}

const sizeOf = async (path: string): Promise<number | undefined> => (await factsOf(path))?.bytes;

async function readFully(path: string, position: number, bytes: number): Promise<Buffer> {
  const found = await readPart(path, position, bytes);
  if (found.length < bytes) throw recordError(path, 'is torn: it is shorter than it was');
  return found;
}

export async function* playedQueries(store: Store): AsyncGenerator<Query> {
  if ((await store.countQueries()) > 0) return yield* allQueries(store);
  const seen = new Set<string>();
  for await (const id of store.listRollouts()) {
    if (seen.has(id.query)) continue;
    seen.add(id.query);
    const rollout = await store.get('rollout', id);
    if (rollout) yield rollout.record.query;
  }
}

interface QueryDigest {
  readonly query: string;
  readonly prompt: string;
  readonly solutions: string;
  /** The judge of a task, or the environment of the run that answers. */
  readonly judge: string;
}

export async function* queryDigests(store: Store): AsyncGenerator<QueryDigest> {
  for await (const query of playedQueries(store)) yield digestOf(query);
}

function digestOf(query: Query): QueryDigest {
  // Words for lists are no part of what is asked and judged.
  const { queryId, prompt, task, environment, title: _title, categories: _categories, ...judged } = query;
  return {
    query: queryId,
    prompt: digest(prompt),
    solutions: digest(judged),
    judge: digest([task, environment ?? null]),
  };
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');
