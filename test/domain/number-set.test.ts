// Sets of numbers as ranges.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNumberSet, eachNumber, numberSet, countNumbers, union, without } from '../../domain/feed/number-set.ts';

const numbers = fc.array(fc.nat(40), { maxLength: 30 });

describe('a set of numbers', () => {
  it('does what a Set does', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const [x, y] = [numberSet(a), numberSet(b)];
        expect([...eachNumber(x)]).toEqual([...new Set(a)].sort((p, q) => p - q));
        expect([...eachNumber(union(x, y))]).toEqual([...new Set([...a, ...b])].sort((p, q) => p - q));
        expect([...eachNumber(without(x, y))]).toEqual(
          [...new Set(a)].filter((n) => !b.includes(n)).sort((p, q) => p - q),
        );
        expect(countNumbers(x)).toBe(new Set(a).size);
        for (const set of [x, union(x, y), without(x, y)]) expect(isNumberSet(set, 41)).toBe(true);
      }),
    );
    for (const bad of [
      null,
      [[1]],
      [[2, 1]],
      [
        [0, 1],
        [2, 3],
      ],
      [[0, 1.5]],
      [[-1, 0]],
      [[0, 41]],
    ])
      // prettier-ignore
      expect(isNumberSet(bad, 41)).toBe(false);
  });
});
