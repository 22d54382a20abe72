// A collection's counts as they must be, computed once more from the results of its rollouts.

import type { CollectionCounts } from '../../domain/run/progress.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { Boundary } from '../../domain/errors/reasons.ts';
import { sameJson } from './breach.ts';
import { range } from './plan.ts';

const MOST_FAILURES = 20;

/** `base`: what was counted before these results. */
export function tally(
  base: CollectionCounts | null,
  results: readonly RolloutResult[],
  numTurns: number,
): CollectionCounts {
  const number = (of: (result: RolloutResult) => number) => results.reduce((sum, result) => sum + of(result), 0);
  const series = (
    before: readonly number[] | undefined,
    length: number,
    of: (result: RolloutResult, i: number) => number,
  ) => range(Math.max(length, before?.length ?? 0)).map((i) => (before?.[i] ?? 0) + number((result) => of(result, i)));
  const longest = (of: (result: RolloutResult) => number) => Math.max(0, ...results.map(of));
  const judged = longest((r) => r.success.findLastIndex((s) => s !== null) + 1);
  const firstRight = (r: RolloutResult) => r.success.indexOf(1);
  const known = longest((r) => (firstRight(r) < 0 ? r.success.length : Math.max(numTurns, r.success.length)));
  const bad = results.filter((r) => r.outcome === 'failed' || r.outcome === 'undecided');
  const reasons = { ...base?.reasons };
  for (const { reason } of bad) reasons[reason ?? 'unknown'] = (reasons[reason ?? 'unknown'] ?? 0) + 1;
  const verdicts: Record<string, Record<string, number>> = structuredClone(base?.verdicts ?? {});
  for (const [verdict, of] of results.flatMap((r) => Object.entries(r.verdicts ?? {})))
    for (const [reason, n] of Object.entries(of))
      verdicts[verdict] = { ...verdicts[verdict], [reason]: (verdicts[verdict]?.[reason] ?? 0) + n };
  const outcomes = { complete: 0, undecided: 0, failed: 0, cancelled: 0, ...base?.outcomes };
  for (const { outcome } of results) outcomes[outcome]++;
  const boundaries: Partial<Record<Boundary, number>> = { ...base?.boundaries };
  for (const { boundary } of bad) if (boundary) boundaries[boundary] = (boundaries[boundary] ?? 0) + 1;
  const failures = bad.map(({ outcome, reason, boundary, trajectory: { query, sample } }) => {
    return { query, sample, outcome, reason: reason ?? 'unknown', ...(boundary && { boundary }) };
  });
  return {
    outcomes,
    reasons,
    ...(Object.keys(boundaries).length > 0 && { boundaries }),
    verdicts,
    turns: (base?.turns ?? 0) + number((r) => r.turns),
    tokens: (base?.tokens ?? 0) + number((r) => r.tokens ?? 0),
    judgedAt: series(base?.judgedAt, judged, (r, i) => ((r.success[i] ?? null) === null ? 0 : 1)),
    rightAt: series(base?.rightAt, judged, (r, i) => (r.success[i] === 1 ? 1 : 0)),
    rightBy: series(base?.rightBy, known, (r, i) => (firstRight(r) >= 0 && firstRight(r) <= i ? 1 : 0)),
    failures: [...(base?.failures ?? []), ...failures].slice(0, MOST_FAILURES),
  };
}

/** The failures are listed in the order in which they were learned of, which is free where several came at once. */
export function sameCounts(a: CollectionCounts, b: CollectionCounts): boolean {
  const sorted = (counts: CollectionCounts) => ({
    ...counts,
    failures: counts.failures.map((f) => JSON.stringify(f)).toSorted(),
  });
  return sameJson(sorted(a), sorted(b));
}
