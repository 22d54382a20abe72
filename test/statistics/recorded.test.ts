// Our functions against figures that inspect-ai 0.3.285, lm-eval 0.4.13, SciPy 1.17.1 and NumPy 2.4.6 gave for the random
// values which stand beside them in recorded/figures.json: equal to 1e-12.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tCritical } from '../../domain/statistics/distributions.ts';
import { clusteredMean, meanOf, percentile, wilson } from '../../domain/statistics/mean.ts';
import { pairedDifference, signTest } from '../../domain/statistics/paired.ts';
import { passAllK, passAtK } from '../../domain/statistics/pass-at-k.ts';

interface Figures {
  readonly versions: Readonly<Record<string, string>>;
  readonly ks: readonly number[];
  readonly clustered: readonly {
    readonly clusters: readonly (readonly number[])[];
    readonly standardError: number;
    readonly interval: readonly number[];
    readonly pass: readonly (readonly (number | null)[])[];
    readonly passAll: readonly (readonly (number | null)[])[];
  }[];
  readonly plain: readonly {
    readonly values: readonly number[];
    readonly standardError: number;
    readonly inspect: number;
  }[];
  readonly paired: readonly {
    readonly a: readonly number[];
    readonly b: readonly number[];
    readonly t: number;
    readonly p: number;
    readonly interval: readonly number[];
  }[];
  readonly wilson: readonly (readonly [number, number, number, number])[];
  readonly signTest: readonly (readonly [number, number, number])[];
  readonly tCritical: readonly (readonly [number, number])[];
  readonly percentiles: readonly (readonly [number, number])[];
}

const FIGURES = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded/figures.json'), 'utf8')) as Figures;

const same = (value: number | null, wanted: number | null, within = 1e-12): void => {
  if (wanted === null || value === null) return expect(value).toBe(wanted);
  expect(Math.abs(value - wanted)).toBeLessThanOrEqual(within * Math.max(1, Math.abs(wanted)));
};

describe('the figures of other implementations', () => {
  test('are of the versions that the head names', () => {
    expect(FIGURES.versions).toEqual({ 'inspect-ai': '0.3.285', 'lm-eval': '0.4.13', scipy: '1.17.1', numpy: '2.4.6' });
  });

  test('inspect-ai: stderr(cluster=), ci(cluster=), pass_at and pass_k', () => {
    for (const { clusters, standardError, interval, pass, passAll } of FIGURES.clustered) {
      const found = clusteredMean(clusters);
      same(found.standardError, standardError);
      interval.forEach((bound, i) => same(found.interval![i]!, bound));
      for (const [i, k] of FIGURES.ks.entries()) {
        clusters.forEach((own, q) => {
          const right = own.filter((one) => one === 1).length;
          same(passAtK(own.length, right, k), pass[i]![q]!);
          same(passAllK(own.length, right, k), passAll[i]![q]!);
        });
      }
    }
  });

  test('lm-eval and inspect-ai: the plain standard error', () => {
    for (const { values, standardError, inspect } of FIGURES.plain) {
      same(meanOf(values).standardError, standardError);
      same(meanOf(values).standardError, inspect);
    }
  });

  test('SciPy: the paired t-test with its interval, Wilson, the sign test and t quantiles', () => {
    for (const { a, b, t, p, interval } of FIGURES.paired) {
      const found = pairedDifference(a.map((value, i) => value - b[i]!));
      same(found.t, t);
      same(found.p, p);
      interval.forEach((bound, i) => same(found.interval![i]!, bound));
    }
    for (const [right, n, low, high] of FIGURES.wilson) {
      same(wilson(right, n)![0], low);
      same(wilson(right, n)![1], high);
    }
    for (const [b, c, p] of FIGURES.signTest)
      same(signTest([...Array<number>(b).fill(1), ...Array<number>(c).fill(-1)]), p);
    for (const [degrees, t] of FIGURES.tCritical) same(tCritical(0.05, degrees), t, degrees > 1000 ? 1e-9 : 1e-12);
  });

  test('NumPy: percentiles', () => {
    const sorted = FIGURES.plain.at(-1)!.values.toSorted((x, y) => x - y);
    for (const [share, value] of FIGURES.percentiles) same(percentile(sorted, share), value);
  });
});
