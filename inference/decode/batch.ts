// Rows that are decoded together, one token each per step. Rows join and leave between steps; a place that a
// finished row left rides along empty until a new row takes it or `tidy` closes it, because moving the others
// costs as much as a step. Rows are padded on the left: all end at the last slot.

import { gatherRows, kvBytes, replaceRow, type KvRow } from './kv.ts';
import type { DecodeRow } from './row.ts';
import type { Kv, KvShape, StepModel } from './step-model.ts';

/** Slots of common padding whose removal is worth a copy of the whole cache. */
const TRIM_SLOTS = 32;

export class DecodeBatch {
  readonly #shape: KvShape;
  /** Paddings are multiples of this, so that a key keeps its lane of the vector unit. */
  readonly #modulus: number;
  #kv: Kv;
  #places: (DecodeRow | null)[] = [];

  constructor(shape: KvShape, modulus: number) {
    this.#shape = shape;
    this.#modulus = modulus;
    this.#kv = gatherRows(shape, [], 0);
  }

  get slots(): number {
    return this.#kv.slots;
  }

  get rows(): DecodeRow[] {
    return this.#places.filter((row) => row !== null);
  }

  /** Now, or after at most modulus - 1 more steps. */
  fits(row: DecodeRow): boolean {
    return this.#places.length === 0 || (this.slots - row.length) % this.#modulus === 0;
  }

  bytesWith(more: readonly DecodeRow[]): number {
    const places = Math.max(this.#places.length, this.rows.length + more.length);
    return kvBytes(this.#shape, places, Math.max(this.slots, ...more.map((row) => row.length)));
  }

  /** Takes rows that fit, and their caches. */
  add(rows: readonly DecodeRow[]): void {
    const taken: { row: DecodeRow; place: number; kv: KvRow }[] = [];
    for (const row of rows) {
      const empty = this.#places.indexOf(null);
      const place = empty < 0 ? this.#places.length : empty;
      this.#places[place] = row;
      taken.push({ row, place, kv: row.kv! });
    }
    const slots = Math.max(this.slots, ...rows.map((row) => row.length));
    if (slots === this.slots && this.#places.length === this.#kv.rows) {
      for (const { kv, place } of taken) replaceRow(this.#shape, kv, this.#kv, place);
    } else {
      const added = new Map(taken.map(({ place, kv }) => [place, kv]));
      const sources = this.#places.map((row, place) => added.get(place) ?? (row && this.#kvRow(row, place)));
      this.#kv = gatherRows(this.#shape, sources, slots);
    }
    for (const { row } of taken) row.kv = null;
  }

  /** Takes a row out; its cache can be read through `row.kv` until this batch changes again. */
  remove(row: DecodeRow): void {
    const place = this.#places.indexOf(row);
    row.kv = this.#kvRow(row, place);
    this.#places[place] = null;
  }

  /**
   * Removes empty places and common padding if that pays, or always if possible.
   * @param expected rows that will soon want an empty place
   */
  tidy(expected: number, always = false): void {
    if (this.#places.length === 0) return;
    const rows = this.rows;
    if (rows.length === 0) {
      this.#places = [];
      this.#kv = gatherRows(this.#shape, [], 0);
      return;
    }
    const empty = Math.max(0, this.#places.length - rows.length - expected);
    const padding = this.slots - Math.max(...rows.map((row) => row.length));
    const trim = padding - (padding % this.#modulus);
    if (!(always ? empty + trim > 0 : empty > this.#places.length / 4 || trim >= TRIM_SLOTS)) return;
    const sources = this.#places.flatMap((row, place) => (row ? [this.#kvRow(row, place)] : []));
    this.#kv = gatherRows(this.#shape, sources, this.slots - trim);
    this.#places = rows;
  }

  /** One token for every row; gives each row's logits. */
  async step(model: StepModel): Promise<{ row: DecodeRow; logits: Float32Array }[]> {
    const places = this.#places;
    const total = this.slots + 1;
    const { logits, kv } = await model.step({
      rows: places.length,
      width: 1,
      ids: places.map((row) => row?.outputIds.at(-1) ?? 0),
      // an empty place has one token, at position 0
      pads: places.map((row) => (row ? total - row.length - 1 : total - 1)),
      past: this.#kv,
    });
    this.#kv = kv;
    const width = model.vocabSize;
    return places.flatMap((row, place) => {
      if (!row) return [];
      row.length++;
      return [{ row, logits: logits.subarray(place * width, (place + 1) * width) }];
    });
  }

  #kvRow(row: DecodeRow, place: number): KvRow {
    return { from: this.#kv, row: place, pad: this.slots - row.length };
  }
}
