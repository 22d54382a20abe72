// The statistics of a run apart for each value of a field: its queries are split, and each part has the same numbers as
// the whole. Pure. Queries without a value are a part of their own.

import type { RolloutSummary, RunSize } from '../rollout/rollout-summary.ts';
import { runStatistics, type RunStatistics, type StatisticsOptions } from './run-statistics.ts';

export interface FieldGroup {
  /** Null: queries without a value. */
  readonly value: string | null;
  readonly statistics: RunStatistics;
}

/** Parts in the natural order of the values: 2 before 10. `valueOf`: by query id. */
export function byField(
  rollouts: readonly RolloutSummary[],
  shape: RunSize,
  valueOf: ReadonlyMap<string, string>,
  options: StatisticsOptions,
): FieldGroup[] {
  const parts = new Map<string | null, RolloutSummary[]>();
  for (const rollout of rollouts) {
    const value = valueOf.get(rollout.query) ?? null;
    const part = parts.get(value);
    if (part) part.push(rollout);
    else parts.set(value, [rollout]);
  }
  // A part has no place in the order of play: what is provisional is said of the whole.
  const ofPart = { ...shape, queries: 0 };
  return [...parts]
    .sort(([a], [b]) => inOrder(a, b))
    .map(([value, part]) => ({ value, statistics: runStatistics(part, ofPart, options) }));
}

function inOrder(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a.localeCompare(b, 'en', { numeric: true }) || (a < b ? -1 : 1);
}
