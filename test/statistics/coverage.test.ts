// The share of 95 % intervals that hold the truth, by simulation: queries of different difficulty, four samples each.

import { expect, test, describe } from 'vitest';
import { randomWords } from '../../domain/run/shuffle.ts';
import { queryMeanEstimate } from '../../domain/statistics/estimate.ts';

const RUNS = 4000;
const SAMPLES = 4;
const NAMED = { name: 'pass@1', unit: 'queries', leftOut: 0, definition: '' } as const;

/** Difficulties are uniform: the truth is a half. */
function coverage(queries: number): number {
  const words = randomWords(queries);
  const uniform = () => words() / 0x1_0000_0000;
  let held = 0;
  for (let run = 0; run < RUNS; run++) {
    const shares = Array.from({ length: queries }, () => {
      const p = uniform();
      return Array.from({ length: SAMPLES }, () => Number(uniform() < p)).reduce((sum, one) => sum + one, 0) / SAMPLES;
    });
    const [low, high] = queryMeanEstimate(NAMED, shares).interval!;
    if (low <= 0.5 && 0.5 <= high) held++;
  }
  return held / RUNS;
}

describe('the interval of pass@1', () => {
  test.each([
    [5, 0.929],
    [15, 0.949],
    [100, 0.957],
  ])('with %i queries holds the truth in a share of %f of runs', (queries, measured) => {
    expect(coverage(queries)).toBeCloseTo(measured, 3);
  });
});
