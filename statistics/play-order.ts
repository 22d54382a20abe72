// The order in which a run plays its rollouts, and the longest beginning of it that has ended: a part of the run that speed
// did not choose.

import type { RolloutSummary, RunSize } from '../domain/rollout/rollout-summary.ts';
import { hasRolloutEnded } from './outcomes.ts';

/** Rollouts of the whole run. */
export function totalOf({ queries, samples, epochs }: RunSize): number {
  return queries * samples * epochs;
}

/** The place of a rollout in play order: epoch by epoch, each in data set order, then sample order. */
function playOrder({ index, sample }: RolloutSummary, { queries, samples }: RunSize): number {
  if (index === null) return Infinity;
  return (Math.floor(sample / samples) * queries + index) * samples + (sample % samples);
}

/** The longest beginning of the run, in play order, of which every rollout has ended. */
export function closedPrefix(rollouts: readonly RolloutSummary[], shape: RunSize): RolloutSummary[] {
  const places = new Map(rollouts.filter(hasRolloutEnded).map((r) => [playOrder(r, shape), r]));
  const prefix: RolloutSummary[] = [];
  for (let found = places.get(0); found; found = places.get(prefix.length)) prefix.push(found);
  return prefix;
}
