// Keys and values of finished rows: the next turn of a rollout, whose context begins with the whole conversation so
// far, computes only the new part. Bounded in bytes; the least recently used row is evicted first.

import { gatherRows, kvBytes, type KvRow } from './kv.ts';
import { tokenAt, type Row } from './row.ts';
import type { Kv, KvShape } from './step-model.ts';

interface Entry {
  readonly ids: Int32Array;
  readonly kv: Kv;
  /** True if bit-identical to feeding the ids to the model at once. */
  readonly exact: boolean;
}

export class PrefixCache {
  readonly #shape: KvShape;
  readonly #maxBytes: number;
  /** Oldest use first. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(shape: KvShape, maxBytes: number) {
    this.#shape = shape;
    this.#maxBytes = maxBytes;
  }

  /** Stores a copy of the row's cache, replacing the entry that it continues. */
  keep(row: Row, exact: boolean): void {
    const bytes = this.#size(row.length);
    if (bytes > this.#maxBytes / 4) return;
    const ids = Int32Array.from({ length: row.length }, (_, place) => tokenAt(row, place));
    for (const entry of this.#entries) {
      if (entry.exact === exact && common(entry.ids, ids, entry.ids.length) === entry.ids.length) this.#drop(entry);
    }
    this.#entries.add({ ids, kv: gatherRows(this.#shape, [row.kv!], row.length), exact });
    this.#bytes += bytes;
    for (const entry of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(entry);
    }
  }

  /** The longest cached beginning of the context, without its last token. */
  find(context: ArrayLike<number>, exactOnly: boolean): { readonly kv: KvRow; readonly exact: boolean } | null {
    let best: Entry | null = null;
    let length = 0;
    for (const entry of this.#entries) {
      if (exactOnly && !entry.exact) continue;
      const shared = common(entry.ids, context, context.length - 1);
      if (shared > length) [best, length] = [entry, shared];
    }
    if (!best) return null;
    this.#entries.delete(best);
    this.#entries.add(best);
    return { kv: { from: headOf(this.#shape, best.kv, length), row: 0, pad: 0 }, exact: best.exact };
  }

  #size(tokens: number): number {
    return kvBytes(this.#shape, 1, tokens);
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry);
    this.#bytes -= this.#size(entry.ids.length);
  }
}

function common(a: ArrayLike<number>, b: ArrayLike<number>, most: number): number {
  const end = Math.min(a.length, b.length, most);
  let n = 0;
  while (n < end && a[n] === b[n]) n++;
  return n;
}

/** The first `length` slots of a one-row cache. */
function headOf(shape: KvShape, kv: Kv, length: number): Kv {
  const { heads, dim } = shape;
  const tensors = kv.tensors.map((values) => {
    const head = new Float32Array(heads * length * dim);
    for (let h = 0; h < heads; h++) {
      const at = h * kv.slots * dim;
      head.set(values.subarray(at, at + length * dim), h * length * dim);
    }
    return head;
  });
  return { rows: 1, slots: length, tensors };
}
