// Means with their errors and intervals: over clusters (the samples of one query are not independent), of proportions
// (Wilson), and percentiles. Formulas and sources: docs/stats.md.

import { tCritical, Z_975 } from './distributions.ts';

export type Interval = readonly [low: number, high: number];

export interface Mean {
  /** Null without values. */
  readonly value: number | null;
  /** Null with fewer than two values or clusters. */
  readonly standardError: number | null;
  /** 95 %, not clipped; null with fewer than two. */
  readonly interval: Interval | null;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** s / √n, and mean ± t_{0.975, n−1} · s / √n. */
export function meanOf(values: readonly number[]): Mean {
  const n = values.length;
  if (n === 0) return { value: null, standardError: null, interval: null };
  const value = sum(values) / n;
  if (n === 1) return { value, standardError: null, interval: null };
  return withT(value, spreadOf(values)! / Math.sqrt(n), n - 1);
}

/** Values that differ by less, as 0.1 + 0.2 and 0.3 do, are equal. */
const ROUNDING = 4 * Number.EPSILON;

/** s, with n − 1, in two passes; exactly 0 for equal values; null for fewer than two. */
export function spreadOf(values: readonly number[]): number | null {
  const n = values.length;
  if (n < 2) return null;
  const [first] = values;
  const above = values.map((value) => (Math.abs(value - first!) <= ROUNDING * Math.abs(first!) ? 0 : value - first!));
  const mean = sum(above) / n;
  return Math.sqrt(above.reduce((total, value) => total + (value - mean) ** 2, 0) / (n - 1));
}

/**
 * The mean over all values, with the error of clusters: √(Σ_i (Σ_j (s_ij − s̄))²) / N · √(Q / (Q − 1)) (Miller, arXiv
 * 2411.00640, with the finite-sample factor of Inspect), and t with Q − 1 degrees of freedom.
 */
export function clusteredMean(clusters: readonly (readonly number[])[]): Mean {
  const filled = clusters.filter((values) => values.length > 0);
  const n = filled.reduce((total, values) => total + values.length, 0);
  if (n === 0) return { value: null, standardError: null, interval: null };
  const value = filled.reduce((total, values) => total + sum(values), 0) / n;
  const q = filled.length;
  if (q < 2) return { value, standardError: null, interval: null };
  const squares = filled.reduce((total, values) => total + (sum(values) - values.length * value) ** 2, 0);
  return withT(value, (Math.sqrt(squares) / n) * Math.sqrt(q / (q - 1)), q - 1);
}

function withT(value: number, standardError: number, degrees: number): Mean {
  const half = tCritical(0.05, degrees) * standardError;
  return { value, standardError, interval: [value - half, value + half] };
}

/** Wilson's interval of a proportion, 95 %: stays in [0, 1] and is right at 0 and 1. */
export function wilson(right: number, n: number): Interval | null {
  if (n === 0) return null;
  const z2 = Z_975 * Z_975;
  const p = right / n;
  const middle = p + z2 / (2 * n);
  const half = Z_975 * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  const low = right === 0 ? 0 : (middle - half) / (1 + z2 / n);
  const high = right === n ? 1 : (middle + half) / (1 + z2 / n);
  return [low, high];
}

/** Linear interpolation between order statistics (type 7, numpy's default). `sorted` ascends; null without values. */
export function percentile(sorted: ArrayLike<number>, share: number): number | null {
  if (sorted.length === 0) return null;
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  return below + 1 < sorted.length ? low + (at - below) * (sorted[below + 1]! - low) : low;
}

export interface Distribution {
  readonly n: number;
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  readonly sum: number | null;
}

export function distributionOf(values: Iterable<number>): Distribution {
  const sorted = Float64Array.from(values).sort();
  const total = sorted.reduce((all, value) => all + value, 0);
  const n = sorted.length;
  return {
    n,
    mean: n === 0 ? null : total / n,
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p99: percentile(sorted, 0.99),
    max: n === 0 ? null : sorted[n - 1]!,
    sum: n === 0 ? null : total,
  };
}
