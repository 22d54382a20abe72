import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gatherRows, replaceRow } from '../../inference/decode/kv.ts';
import type { Kv } from '../../inference/decode/step-model.ts';

const shape = { tensors: 2, heads: 3, dim: 2 };
const row = fc.record({ slots: fc.integer({ min: 1, max: 9 }), pad: fc.nat(8), rows: fc.integer({ min: 1, max: 3 }) });

/** Every number is its own: where it came from can be read off it. */
function filled(rows: number, slots: number, salt: number): Kv {
  const size = rows * shape.heads * slots * shape.dim;
  return {
    rows,
    slots,
    tensors: [0, 1].map((t) => Float32Array.from({ length: size }, (_, i) => salt + t * 5000 + i)),
  };
}

function read(kv: Kv, t: number, r: number, head: number, fromEnd: number): number[] {
  const at = ((r * shape.heads + head) * kv.slots + kv.slots - 1 - fromEnd) * shape.dim;
  return [...kv.tensors[t]!.subarray(at, at + shape.dim)];
}

describe('a moved KV cache', () => {
  test('moves every key and value of a row to the same distance from the end, and zeroes what is left of them', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), fc.nat(6), fc.boolean(), (specs, extra, inPlace) => {
        const sources = specs.map(({ slots, pad, rows }, i) => ({
          from: filled(rows, slots, (i + 1) * 10_000),
          row: (i * 7) % rows,
          pad: Math.min(pad, slots),
        }));
        const slots = Math.max(...sources.map(({ from, pad }) => from.slots - pad)) + extra;
        const target = inPlace ? filled(sources.length, slots, 900_000) : gatherRows(shape, sources, slots);
        if (inPlace) sources.forEach((source, i) => replaceRow(shape, source, target, i));
        for (const [i, { from, row: r, pad }] of sources.entries()) {
          for (let t = 0; t < shape.tensors; t++) {
            for (let head = 0; head < shape.heads; head++) {
              for (let fromEnd = 0; fromEnd < slots; fromEnd++) {
                const expected = fromEnd < from.slots - pad ? read(from, t, r, head, fromEnd) : [0, 0];
                expect(read(target, t, i, head, fromEnd)).toEqual(expected);
              }
            }
          }
        }
      }),
    );
  });
});
