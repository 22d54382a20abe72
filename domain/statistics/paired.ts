// Two runs of the same queries: the mean difference and whether it is more than chance. Paired, because queries differ
// in difficulty by far more than runs differ. Miller, arXiv 2411.00640, sections 4 and 5.

import { fairCoinsAtMost, tTwoSided, Z_80, Z_975 } from './distributions.ts';
import { type Mean, meanOf, spreadOf } from './mean.ts';

export interface PairedDifference extends Mean {
  /** Queries. */
  readonly n: number;
  /** Standard deviation of the differences; null with fewer than two. */
  readonly spread: number | null;
  readonly t: number | null;
  /** Two-sided, paired t-test with n − 1 degrees of freedom. */
  readonly p: number | null;
}

/**
 * d̄ ± t_{n−1} · s_d / √n of one difference a query. Without any spread the t-test says nothing: p is 1 if all
 * differences are 0, else null, and there is no interval; the sign test still answers. `most`: no difference can
 * be greater, nor a bound of the interval.
 */
export function pairedDifference(differences: readonly number[], most = Infinity): PairedDifference {
  const n = differences.length;
  const mean = meanOf(differences);
  const spread = spreadOf(differences);
  const { value, standardError } = mean;
  if (value === null || standardError === null) return { ...mean, n, spread, t: null, p: null };
  if (standardError === 0) {
    const none = value === 0;
    return { ...mean, interval: null, n, spread, t: none ? 0 : null, p: none ? 1 : null };
  }
  const t = value / standardError;
  const [low, high] = mean.interval!;
  const interval = [Math.max(-most, low), Math.min(most, high)] as const;
  return { ...mean, interval, n, spread, t, p: tTwoSided(t, n - 1) };
}

/** Exact: the chance that fair coins are as uneven as the signs of the differences. Of one sample a query it is McNemar's. */
export function signTest(differences: readonly number[]): number {
  const [up, down] = [differences.filter((d) => d > 0).length, differences.filter((d) => d < 0).length];
  return Math.min(1, 2 * fairCoinsAtMost(Math.min(up, down), up + down));
}

interface Variances {
  /** ω²: variance over queries of the true difference. */
  readonly between: number;
  /** σ²_A / K_A and σ²_B / K_B: variance within a query, over the samples of each run. */
  readonly withinA: number;
  readonly withinB: number;
}

/** The difference that so many queries show with a power of 80 % at the 5 % level (Miller, equations 9 and 10). */
export function visibleDifference({ between, withinA, withinB }: Variances, queries: number): number {
  return (Z_975 + Z_80) * Math.sqrt((between + withinA + withinB) / queries);
}
