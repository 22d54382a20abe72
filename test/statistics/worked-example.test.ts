// A worked example of the definitions in docs/stats.md, to 1e-12 where its number is exact, else to the digits that were published.

import { describe, expect, test } from 'vitest';
import { tCritical } from '../../domain/statistics/distributions.ts';
import { visibleDifference } from '../../domain/statistics/paired.ts';
import { runStatistics } from '../../domain/statistics/run-statistics.ts';
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

  test('gives the paper’s 969 queries for 3 points', () => {
    near(visibleDifference({ between: 1 / 9, withinA: 0, withinB: 0 }, 969), 0.03, 1e-5);
  });
});
