// The places of ended rollouts in memory: some forty bytes for each, outside the heap. Queries are told apart by 64 bits of
// a hash of their name.

import { hash } from 'node:crypto';
import { safeName } from '../../domain/names/ids.ts';
import { parseRolloutFolder } from '../format/layout.ts';

export interface EndedId {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

export interface Place {
  readonly segment: number;
  readonly at: number;
  readonly bytes: number;
}

/** Columns of one table: a row for each rollout, rows of one query linked by `next`. */
interface Columns {
  readonly keys: Int32Array; // two a row
  readonly samples: Uint32Array;
  readonly attempts: Uint32Array;
  readonly segments: Uint32Array;
  readonly offsets: Float64Array;
  readonly bytes: Uint32Array;
  readonly next: Int32Array;
  readonly heads: Int32Array; // by key; -1: none
}

const FIRST_ROWS = 1024;

function columnsOf(rows: number): Columns {
  return {
    keys: new Int32Array(2 * rows),
    samples: new Uint32Array(rows),
    attempts: new Uint32Array(rows),
    segments: new Uint32Array(rows),
    offsets: new Float64Array(rows),
    bytes: new Uint32Array(rows),
    next: new Int32Array(rows),
    heads: new Int32Array(rows).fill(-1),
  };
}

type Key = readonly [number, number];

function keyOf(name: string): Key {
  const digest = hash('sha1', name, 'buffer');
  return [digest.readInt32LE(0), digest.readInt32LE(4)];
}

export class Places {
  #columns = columnsOf(FIRST_ROWS);
  #count = 0;
  /** A reader asks for the same query several times in a row. */
  #last: { readonly query: string; readonly key: Key } | undefined;

  get size(): number {
    return this.#count;
  }

  /** The longer of two lines of one rollout counts. Returns the one that does not; a line may be added again. */
  add(id: EndedId, place: Place): Place | undefined {
    const key = this.#keyOf(id.query);
    const known = this.#row(key, id.sample, id.attempt);
    if (known < 0) {
      this.#append(key, id, place);
      return undefined;
    }
    const before = this.#place(known);
    if (place.segment === before.segment && place.at === before.at) return undefined;
    if (place.bytes <= before.bytes) return place;
    this.#put(known, place);
    return before;
  }

  find({ query, sample, attempt }: EndedId): Place | undefined {
    return this.#found(this.#keyOf(query), sample, attempt);
  }

  /** By the path of the rollout's folder. */
  findFolder(path: string): Place | undefined {
    const [name = '', rollout = ''] = path.split('/').slice(-2);
    const place = parseRolloutFolder(rollout);
    return place && this.#found(keyOf(name), place.sample, place.attempt);
  }

  /** In no order. */
  of(query: string): EndedId[] {
    const found: EndedId[] = [];
    const { samples, attempts } = this.#columns;
    for (const row of this.#rows(this.#keyOf(query)))
      found.push({ query, sample: samples[row]!, attempt: attempts[row]! });
    return found;
  }

  #keyOf(query: string): Key {
    if (this.#last?.query !== query) this.#last = { query, key: keyOf(safeName(query)) };
    return this.#last.key;
  }

  #found(key: Key, sample: number, attempt: number): Place | undefined {
    const row = this.#row(key, sample, attempt);
    return row < 0 ? undefined : this.#place(row);
  }

  #place(row: number): Place {
    const { segments, offsets, bytes } = this.#columns;
    return { segment: segments[row]!, at: offsets[row]!, bytes: bytes[row]! };
  }

  #put(row: number, { segment, at, bytes }: Place): void {
    this.#columns.segments[row] = segment;
    this.#columns.offsets[row] = at;
    this.#columns.bytes[row] = bytes;
  }

  #row(key: Key, sample: number, attempt: number): number {
    const { samples, attempts } = this.#columns;
    for (const row of this.#rows(key)) if (samples[row] === sample && attempts[row] === attempt) return row;
    return -1;
  }

  *#rows([a, b]: Key): Generator<number> {
    const { keys, next, heads } = this.#columns;
    for (let row = heads[(a >>> 0) % heads.length]!; row >= 0; row = next[row]!)
      if (keys[2 * row] === a && keys[2 * row + 1] === b) yield row;
  }

  #append(key: Key, { sample, attempt }: EndedId, place: Place): void {
    if (this.#count === this.#columns.samples.length) this.#grow();
    const row = this.#count++;
    const { keys, samples, attempts } = this.#columns;
    [keys[2 * row], keys[2 * row + 1]] = key;
    samples[row] = sample;
    attempts[row] = attempt;
    this.#put(row, place);
    this.#link(row);
  }

  #link(row: number): void {
    const { keys, next, heads } = this.#columns;
    const head = (keys[2 * row]! >>> 0) % heads.length;
    next[row] = heads[head]!;
    heads[head] = row;
  }

  #grow(): void {
    const { keys, samples, attempts, segments, offsets, bytes } = this.#columns;
    const wider = columnsOf(2 * samples.length);
    wider.keys.set(keys);
    wider.samples.set(samples);
    wider.attempts.set(attempts);
    wider.segments.set(segments);
    wider.offsets.set(offsets);
    wider.bytes.set(bytes);
    this.#columns = wider;
    for (let row = 0; row < this.#count; row++) this.#link(row);
  }
}
