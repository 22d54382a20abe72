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

  test('seeds that differ only above their 32nd bit give different orders', () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    expect(shuffled(items, 5)).not.toEqual(shuffled(items, 5 + 2 ** 33));
  });

  test('every place is as likely as any other', () => {
    const firsts = [0, 0, 0, 0];
    for (let seed = 0; seed < 4000; seed++) firsts[shuffled([0, 1, 2, 3], seed)[0]!]!++;
    // A place's count has standard deviation 27: six of them.
    for (const count of firsts) expect(Math.abs(count - 1000)).toBeLessThan(165);
  });
});
