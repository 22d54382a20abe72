// The rows of one run in memory, with those that are open and those whose turns are not read, so that a look at them
// costs nothing for the others. Ended ones are bytes (row-bytes.ts). A row is in the list from the next publication on.

import { inOrder, type Row } from './model/row.ts';
import { plainRow, RowBytes } from './row-bytes.ts';
import type { RowPlace } from './model/messages.ts';

const NONE = -1;
/** At most so many of a hundred slots are taken. */
const FULL = 70;

export class RowTable {
  readonly #bytes = new RowBytes();
  readonly #rows: Row[] = [];
  /** Places in `rows` by the hash of their rollout; the next free slot where several have one. */
  #slots = new Int32Array(1024).fill(NONE);
  /** Places in `rows`. */
  readonly #open = new Set<number>();
  readonly #unread = new Set<number>();
  #listed: readonly Row[] | undefined;
  #dirty = true;
  #revision = 0;

  get size(): number {
    return this.#rows.length;
  }

  /** Rows whose turns were read. */
  get read(): number {
    return this.#rows.length - this.#unread.size;
  }

  /** Grows with every publication of something new. */
  get revision(): number {
    return this.#revision;
  }

  has(place: RowPlace): boolean {
    return this.#slots[this.#slotOf(place)] !== NONE;
  }

  get(place: RowPlace): Row | undefined {
    const at = this.#slots[this.#slotOf(place)]!;
    return at === NONE ? undefined : plainRow(this.#rows[at]!);
  }

  put(row: Row): void {
    const slot = this.#slotOf(row);
    const known = this.#slots[slot]!;
    const before = known === NONE ? undefined : this.#rows[known];
    if (before?.state === 'open' && JSON.stringify(before) === JSON.stringify(row)) return;
    this.#dirty = true;
    const at = before ? known : this.#rows.length;
    this.#rows[at] = this.#bytes.add(row) ?? row;
    if (row.state === 'open') this.#open.add(at);
    else this.#open.delete(at);
    if (row.turns === null) this.#unread.add(at);
    else this.#unread.delete(at);
    if (before) return;
    this.#slots[slot] = at;
    if (this.#rows.length * 100 > this.#slots.length * FULL) this.#grow();
  }

  /** All rows as last published, in data set order. Each reads its bytes: `plainRow` is a copy. */
  listed(): readonly Row[] {
    return (this.#listed ??= this.#rows.toSorted(inOrder));
  }

  open(): readonly Row[] {
    return Array.from(this.#open, (at) => this.#rows[at]!);
  }

  /** The first `count` of those whose turns are not read. */
  unread(count: number): readonly Row[] {
    const first: Row[] = [];
    for (const at of this.#unread) {
      if (first.length >= count) break;
      first.push(this.#rows[at]!);
    }
    return first;
  }

  publish(): void {
    if (!this.#dirty) return;
    this.#dirty = false;
    this.#listed = undefined;
    this.#revision++;
  }

  /** The next publication is new, whatever was put. */
  touch(): void {
    this.#dirty = true;
  }

  /** The slot of this rollout, or the free one where it belongs. */
  #slotOf(place: RowPlace): number {
    const { query, sample, attempt } = place;
    const last = this.#slots.length - 1;
    for (let slot = hashOf(query, sample, attempt) & last; ; slot = (slot + 1) & last) {
      const at = this.#slots[slot]!;
      if (at === NONE) return slot;
      const row = this.#rows[at]!;
      if (row.sample === sample && row.attempt === attempt && row.query === query) return slot;
    }
  }

  #grow(): void {
    const taken = this.#slots.filter((at) => at !== NONE);
    this.#slots = new Int32Array(2 * this.#slots.length).fill(NONE);
    for (const at of taken) this.#slots[this.#slotOf(this.#rows[at]!)] = at;
  }
}

/** FNV-1a. */
function hashOf(query: string, sample: number, attempt: number): number {
  let hash = 0x811c9dc5 ^ sample;
  hash = Math.imul(hash, 0x01000193) ^ attempt;
  for (let i = 0; i < query.length; i++) hash = Math.imul(hash, 0x01000193) ^ query.charCodeAt(i);
  hash ^= hash >>> 15;
  return hash >>> 0;
}
