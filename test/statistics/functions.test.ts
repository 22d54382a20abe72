// The functions against independent ones: closed forms, and brute force over every subset.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bootstrapRatio } from '../../domain/statistics/timing.ts';
import { clusteredMean, meanOf, spreadOf } from '../../domain/statistics/mean.ts';
import { pairedDifference } from '../../domain/statistics/paired.ts';
import { majorityAtK, passAllK, passAtK, type Vote } from '../../domain/statistics/pass-at-k.ts';

const close = (value: number | null, wanted: number, relative = 1e-12) =>
  expect(Math.abs(value! - wanted)).toBeLessThanOrEqual(relative * Math.max(1, Math.abs(wanted)));

/** Every way to take k of the items. */
function* subsets<T>(items: readonly T[], k: number): Generator<T[]> {
  if (k === 0) yield [];
  else
    for (let i = 0; i + k <= items.length; i++)
      for (const rest of subsets(items.slice(i + 1), k - 1)) yield [items[i]!, ...rest];
}

const shareOf = <T>(all: Iterable<T>, value: (one: T) => number): number => {
  const values = [...all].map(value);
  return values.reduce((a, b) => a + b, 0) / values.length;
};

describe('a spread', () => {
  test('is 0 where values differ by rounding alone, and is that of small values where they differ', () => {
    expect([spreadOf([0.3, 0.1 + 0.2, 0.3]), spreadOf([0, 0]), meanOf([0.7, 0.1 + 0.6]).standardError]).toEqual([
      0, 0, 0,
    ]);
    close(spreadOf([1e-9, 3e-9])! * 1e9, Math.SQRT2);
    close(spreadOf([1e9, 1e9 + 1]), Math.SQRT1_2);
  });
});

describe('pass@k, pass^k and maj@k', () => {
  test('equal brute force over every subset', () => {
    const vote = fc.record({ answer: fc.constantFrom('1', '2', '3', null), right: fc.boolean() });
    // One answer has one verdict, as a judge's canonical text has.
    const votes = fc.array(vote, { minLength: 1, maxLength: 7 }).map((all): Vote[] => {
      const verdicts = new Map<string | null, boolean>();
      return all.map(({ answer, right }) => {
        if (answer === null) return { answer, right };
        if (!verdicts.has(answer)) verdicts.set(answer, right);
        return { answer, right: verdicts.get(answer)! };
      });
    });
    fc.assert(
      fc.property(votes, fc.integer({ min: 1, max: 7 }), (all, k) => {
        const right = all.filter((v) => v.right).length;
        if (k > all.length) {
          expect([passAtK(all.length, right, k), passAllK(all.length, right, k), majorityAtK(all, k)]).toEqual([
            null,
            null,
            null,
          ]);
          return;
        }
        close(
          passAtK(all.length, right, k),
          shareOf(subsets(all, k), (some) => (some.some((v) => v.right) ? 1 : 0)),
        );
        close(
          passAllK(all.length, right, k),
          shareOf(subsets(all, k), (some) => (some.every((v) => v.right) ? 1 : 0)),
        );
        close(majorityAtK(all, k), shareOf(subsets(all, k), majority));
      }),
      { numRuns: 300 },
    );
  });

  test('draws subsets where there are too many, close to the exact value', () => {
    const votes = Array.from({ length: 40 }, (_, i): Vote => ({ answer: i % 3 === 0 ? 'a' : 'b', right: i % 3 === 0 }));
    // 14 of 40 hold the right answer: P(at least 2 of 3 drawn).
    const c = (n: number, k: number): number => (k === 0 ? 1 : (c(n, k - 1) * (n - k + 1)) / k);
    const exact = (c(14, 2) * 26 + c(14, 3)) / c(40, 3);
    expect(Math.abs(majorityAtK(votes, 3)! - exact)).toBeLessThan(0.04);
    expect(majorityAtK(votes, 3)).toBe(majorityAtK(votes, 3));
  });
});

function majority(some: readonly Vote[]): number {
  const counts = new Map<string, { n: number; right: boolean }>();
  for (const { answer, right } of some)
    if (answer !== null) counts.set(answer, { n: (counts.get(answer)?.n ?? 0) + 1, right });
  const most = Math.max(0, ...[...counts.values()].map(({ n }) => n));
  const tied = [...counts.values()].filter(({ n }) => n === most);
  return tied.length === 0 ? 0 : tied.filter(({ right }) => right).length / tied.length;
}

describe('the comparison of pairs', () => {
  test('a difference without spread has no t-test, and one query says nothing', () => {
    expect(pairedDifference([0, 0, 0])).toMatchObject({ value: 0, p: 1 });
    expect(pairedDifference([0.5, 0.5])).toMatchObject({ value: 0.5, p: null, t: null, interval: null });
    expect(pairedDifference([0.5])).toMatchObject({ n: 1, interval: null, p: null });
    expect(pairedDifference([])).toMatchObject({ n: 0, value: null });
  });
});

describe('means', () => {
  test('of equal clusters have the error of the clusters’ means', () => {
    const cluster = fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 2, maxLength: 9 }), (clusters) => {
        close(clusteredMean(clusters).standardError, meanOf(clusters.map((own) => meanOf(own).value!)).standardError!);
      }),
    );
  });

  test('have a bootstrap interval that is the same at every look and close to the normal one', () => {
    const values = Array.from({ length: 400 }, (_, i) => (i % 5 === 0 ? 1 : 0));
    const ones = values.map(() => 1);
    const [low, high] = bootstrapRatio(values, ones)!;
    expect(bootstrapRatio(values, ones)).toEqual([low, high]);
    expect(Math.abs(low - (0.2 - 1.96 * 0.02))).toBeLessThan(0.01);
    expect(Math.abs(high - (0.2 + 1.96 * 0.02))).toBeLessThan(0.01);
  });
});
