import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shuffled } from '../../domain/run/shuffle.ts';

const SOME_SEED = fc.maxSafeNat();

describe('a shuffle', () => {
  test('a shuffle keeps every item once and leaves the original as it was', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), SOME_SEED, (items, seed) => {
        const before = [...items];
        const numeric = (a: number, b: number) => a - b;
        expect(shuffled(items, seed).toSorted(numeric)).toEqual(items.toSorted(numeric));
        expect(items).toEqual(before);
      }),
    );
  });

  test('the same seed gives the same order, for ever', () => {
    const items = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    expect(shuffled(items, 7)).toEqual(shuffled([...items], 7));
    expect(shuffled(items, 7).join('')).toBe('dacefbgh');
  });
});
