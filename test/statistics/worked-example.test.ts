// A worked example of the definitions in docs/stats.md, to 1e-12 where its number is exact, else to the digits that were published.

import { describe, expect, test } from 'vitest';
import { clusteredMean, distributionOf, meanOf, percentile, wilson } from '../../statistics/mean.ts';
import { tCritical } from '../../statistics/distributions.ts';
import { pairedDifference, signTest, visibleDifference } from '../../statistics/paired.ts';
import { runStatistics } from '../../statistics/run-statistics.ts';
import { SHAPE, WORKED } from './rollouts.ts';

const near = (value: number | null | undefined, wanted: number, within = 1e-12): void => {
  expect(value).not.toBeNull();
  expect(Math.abs(value! - wanted)).toBeLessThanOrEqual(within);
};

describe('the worked example', () => {
  const statistics = runStatistics(WORKED, SHAPE, { ks: [1, 2, 3, 4] });

  test.each([
    ['pass@k', 'passAtK', [0.5, 0.625, 0.6875, 0.75]],
    ['pass^k', 'passAllK', [0.375, 0.3125, 0.25]],
    ['maj@k', 'majorityAtK', [0.5, (1 + 1 / 6 + 0 + 1) / 4, 0.5]],
  ] as const)('gives %s', (_, field, wanted) => {
    wanted.forEach((value, i) => near(statistics[field][i]!.value, value));
    expect(statistics[field].map(({ n, leftOut }) => [n, leftOut])).toEqual(wanted.map(() => [4, 0]));
  });

  test('gives the error of clusters, with the finite-sample factor, and t with 3 degrees of freedom', () => {
    const [share] = statistics.passAtK;
    near(share!.value, 0.5);
    near(share!.standardError, (Math.sqrt(10) / 16) * Math.sqrt(4 / 3));
    near(share!.standardError, 0.228218, 5e-7);
    near(tCritical(0.05, 3), 3.182446305284, 1e-11);
    // 0.5 ± 0.7263 says nothing; shown as all of [0, 1].
    expect(share!.interval).toEqual([0, 1]);
  });

  test('weighs unequal clusters by their size', () => {
    const clusters = [[1, 1, 1, 0], [0, 1, 0], [0], [1, 1]];
    near(clusteredMean(clusters).value, 0.6);
    near(clusteredMean(clusters).standardError, 0.163299, 5e-7);
    near(meanOf(clusters.map((own) => meanOf(own).value!)).value, 0.520833, 5e-7);
  });

  test.each([
    [43, 60, 0.5923, 0.8149],
    [58, 60, 0.8864, 0.9908],
    [60, 60, 0.9398, 1],
    [0, 60, 0, 0.0602],
  ])('gives the Wilson interval of %i of %i', (right, n, low, high) => {
    const [from, to] = wilson(right, n)!;
    near(from, low, 5e-5);
    near(to, high, 5e-5);
  });

  test('gives the paired difference, which is a quarter of the unpaired error', () => {
    const a = [0.75, 0.25, 0, 1];
    const b = [0.5, 0.25, 0, 0.75];
    const found = pairedDifference(a.map((value, i) => value - b[i]!));
    near(found.value, 0.125);
    near(found.spread, 0.144338, 5e-7);
    near(found.standardError, 0.072169, 5e-7);
    near(found.t, Math.sqrt(3));
    near(found.p, 0.18169, 5e-7);
    near(found.interval![0], -0.1047, 5e-5);
    near(found.interval![1], 0.3547, 5e-5);
    expect(signTest(a.map((value, i) => value - b[i]!))).toBe(0.5);
  });

  test('gives the sign test, type 7 percentiles, and the paper’s 969 queries for 3 points', () => {
    near(signTest([...Array<number>(8).fill(1), -1, -1]), 0.109375);
    const times = [0.4, 0.5, 0.7, 1, 1.2, 2, 2.5, 3, 8, 20];
    [
      [0.5, 1.6],
      [0.9, 9.2],
      [0.95, 14.6],
      [0.99, 18.92],
    ].forEach(([share, wanted]) => near(percentile(times, share!), wanted!));
    expect(distributionOf([20, 0.4, 8]).p50).toBe(8);
    near(visibleDifference({ between: 1 / 9, withinA: 0, withinB: 0 }, 969), 0.03, 1e-5);
  });
});
