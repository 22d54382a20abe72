// A number with everything a reader needs to trust it: the number of observations, the error, a 95 % interval, and its
// definition in words.

import { clusteredMean, type Interval, meanOf, wilson } from './mean.ts';

export interface Estimate {
  readonly name: string;
  /** Null: undefined, because nothing was observed. */
  readonly value: number | null;
  /** Observations, in `unit`. */
  readonly n: number;
  readonly unit: 'rollouts' | 'queries' | 'turns' | 'answers' | 'calls';
  /** Observations that could not be used: queries with fewer than k samples, rollouts that failed or are undecided. */
  readonly leftOut: number;
  readonly standardError: number | null;
  /** 95 %, clipped to [0, 1] for shares; null if there are too few observations, or the number is provisional. */
  readonly interval: Interval | null;
  readonly method: 'wilson' | 't' | 'bootstrap' | null;
  readonly definition: string;
}

type Named = Pick<Estimate, 'name' | 'unit' | 'leftOut' | 'definition'>;

/** A share of 0/1 values in clusters (queries): Wilson with one value each, else the clustered error and t. */
export function shareEstimate(named: Named, clusters: readonly (readonly number[])[]): Estimate {
  const filled = clusters.filter((values) => values.length > 0);
  const n = filled.reduce((sum, values) => sum + values.length, 0);
  const { value, standardError, interval } = clusteredMean(filled);
  if (filled.every((values) => values.length === 1)) {
    const right = filled.reduce((sum, [one]) => sum + one!, 0);
    return { ...named, value, n, standardError, interval: wilson(right, n), method: n > 0 ? 'wilson' : null };
  }
  const certain = unanimous(value, filled.length, standardError);
  if (certain) return { ...named, value, n, standardError, interval: certain, method: 'wilson' };
  return { ...named, value, n, standardError, interval: clipToShare(interval), method: interval ? 't' : null };
}

/** All right or all wrong: an error of 0 would be a claim of certainty. Wilson, with one observation a query. */
function unanimous(value: number | null, queries: number, standardError: number | null): Interval | null {
  return standardError === 0 && (value === 0 || value === 1) ? wilson(value * queries, queries) : null;
}

/** A mean over queries of one share each: Wilson where each is 0 or 1, else t with Q − 1 degrees of freedom. */
export function queryMeanEstimate(named: Named, values: readonly number[]): Estimate {
  const { value, standardError, interval } = meanOf(values);
  if (values.every((one) => one === 0 || one === 1)) {
    const right = values.filter((one) => one === 1).length;
    const interval = wilson(right, values.length);
    return { ...named, value, n: values.length, standardError, interval, method: interval ? 'wilson' : null };
  }
  return {
    ...named,
    value,
    n: values.length,
    standardError,
    interval: clipToShare(interval),
    method: interval ? 't' : null,
  };
}

/** Without error and interval: provisional, or of a population that is known as a whole. */
export function bareEstimate(named: Named, value: number | null, n: number): Estimate {
  return { ...named, value, n, standardError: null, interval: null, method: null };
}

export function clipToShare(interval: Interval | null): Interval | null {
  return interval && [Math.max(0, interval[0]), Math.min(1, interval[1])];
}

/** An interval over most of [0, 1] says nothing: too few queries. */
export function isTooWide({ interval, value }: Estimate): boolean {
  return value !== null && (interval === null || interval[1] - interval[0] > 0.8);
}
