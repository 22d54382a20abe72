// Two runs of the same queries: the mean difference and whether it is more than chance. Paired, because queries differ
// in difficulty by far more than runs differ. Miller, arXiv 2411.00640, sections 4 and 5.

import { randomWords } from '../domain/run/shuffle.ts';
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
 * differences are 0, else null, and there is no interval; random signs (signFlip) still answer. `most`: no difference can
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

/** Exact McNemar (sign test): `onlyA` and `onlyB` are queries that one run alone has right. */
export function mcnemar(onlyA: number, onlyB: number): number {
  return Math.min(1, 2 * fairCoinsAtMost(Math.min(onlyA, onlyB), onlyA + onlyB));
}

const MOST_EXACT = 20;
const MOST_FLIPS = 10_000;
const LEAST_FLIPS = 1000;
const MOST_WORK = 50_000_000;

/**
 * Sign-flip permutation: the chance that random signs of the differences give a sum at least as far from 0. Exact for
 * up to 20 differences that are not 0; else seeded draws, p = (hits + 1) / (draws + 1).
 */
export function signFlip(differences: readonly number[]): number {
  const moved = differences.filter((d) => d !== 0);
  const observed = Math.abs(moved.reduce((sum, d) => sum + d, 0));
  // Sums of the same terms in another order differ in the last bits.
  const near = observed - 1e-9 * moved.reduce((sum, d) => sum + Math.abs(d), 0);
  return moved.length <= MOST_EXACT ? overAllSigns(moved, near) : overDrawnSigns(moved, near);
}

function overAllSigns(moved: readonly number[], near: number): number {
  const signs = 2 ** moved.length;
  let sum = moved.reduce((total, d) => total + d, 0);
  const flipped = moved.map(() => false);
  let hits = Math.abs(sum) >= near ? 1 : 0;
  // Gray code: each step flips one sign.
  for (let step = 1; step < signs; step++) {
    const i = 31 - Math.clz32(step & -step);
    sum += (flipped[i] ? 2 : -2) * moved[i]!;
    flipped[i] = !flipped[i];
    if (Math.abs(sum) >= near) hits++;
  }
  return hits / signs;
}

function overDrawnSigns(moved: readonly number[], near: number): number {
  const draws = Math.round(Math.min(MOST_FLIPS, Math.max(LEAST_FLIPS, MOST_WORK / moved.length)));
  const next = randomWords(0);
  let hits = 0;
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (let i = 0; i < moved.length;) {
      for (let bits = next(), end = Math.min(i + 32, moved.length); i < end; i++, bits >>>= 1)
        sum += (bits & 1) === 1 ? moved[i]! : -moved[i]!;
    }
    if (Math.abs(sum) >= near) hits++;
  }
  return (hits + 1) / (draws + 1);
}

export interface Variances {
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
