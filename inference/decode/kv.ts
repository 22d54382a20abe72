// Rearranging cached keys and values. Pure. A row is right-aligned: its tokens end at the last slot, and the
// slots left of it are zero (masked, but they must be finite numbers).

import type { Kv, KvShape } from './step-model.ts';

/** A row of a cache: its tokens begin at slot `pad`. */
export interface KvRow {
  readonly from: Kv;
  readonly row: number;
  readonly pad: number;
}

/** A new cache of `slots` places holding these rows; null is an empty row. */
export function gatherRows(shape: KvShape, rows: readonly (KvRow | null)[], slots: number): Kv {
  const size = rows.length * shape.heads * slots * shape.dim;
  const gathered: Kv = {
    rows: rows.length,
    slots,
    tensors: Array.from({ length: shape.tensors }, () => new Float32Array(size)),
  };
  rows.forEach((source, row) => source && copyRow(shape, source, gathered, row));
  return gathered;
}

/** Writes a row over another one of a cache that is at least as long. */
export function replaceRow(shape: KvShape, source: KvRow, into: Kv, row: number): void {
  const rowSize = shape.heads * into.slots * shape.dim;
  for (const tensor of into.tensors) tensor.fill(0, row * rowSize, (row + 1) * rowSize);
  copyRow(shape, source, into, row);
}

export function kvBytes(shape: KvShape, rows: number, slots: number): number {
  return shape.tensors * rows * shape.heads * slots * shape.dim * Float32Array.BYTES_PER_ELEMENT;
}

function copyRow(shape: KvShape, source: KvRow, into: Kv, row: number): void {
  const { heads, dim } = shape;
  const length = source.from.slots - source.pad;
  if (length > into.slots) throw new RangeError(`${length} tokens do not fit in ${into.slots} slots`);
  for (const [t, target] of into.tensors.entries()) {
    const values = source.from.tensors[t]!;
    for (let head = 0; head < heads; head++) {
      const end = (source.row * heads + head + 1) * source.from.slots * dim;
      const at = ((row * heads + head + 1) * into.slots - length) * dim;
      target.set(values.subarray(end - length * dim, end), at);
    }
  }
}
