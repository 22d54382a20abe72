// Numbers of a run in progress. Fast rollouts end first, and short answers are more often right: the mean of those that
// have ended drifts down. So three things: the ended ones, marked provisional and without an interval; the closed
// prefix, which speed does not choose; and bounds that hold whatever the others do.

import { type RolloutSummary, type RunSize, unsteered } from '../rollout/rollout-summary.ts';
import { bareEstimate, type Estimate, shareEstimate } from './estimate.ts';
import type { Interval } from './mean.ts';
import { byQuery, hasRolloutEnded, isScored, known, rightBy } from './outcomes.ts';

export interface Provisional {
  /** Rollouts of the run, without those that a person had a part in; those of them that have ended. */
  readonly of: number;
  readonly ended: number;
  readonly endedSoFar: Estimate;
  readonly closedPrefix: {
    /** The first so many rollouts in play order have all ended. */
    readonly length: number;
    readonly estimate: Estimate;
  };
  /** The share of right ones of all `of` rollouts lies between, at the end; null for rewards without verdicts. */
  readonly bounds: Interval | null;
}

/** `rollouts`: begun ones, the last attempt of each. Null for a run that has ended or whose size nobody knows. */
export function provisional(rollouts: readonly RolloutSummary[], shape: RunSize, turn: number): Provisional | null {
  const total = totalOf(shape);
  const own = unsteered(rollouts);
  const of = total - (rollouts.length - own.length);
  const ended = own.filter(hasRolloutEnded);
  if (total === 0 || ended.length >= of) return null;
  const prefix = unsteered(closedPrefix(rollouts, shape));
  const success = known(ended.map((r) => rightBy(r, turn)));
  const right = success.filter((one) => one === 1).length;
  const groups = byQuery(prefix).map((group) => known(group.rollouts.map((r) => rightBy(r, turn))));
  const used = groups.reduce((sum, values) => sum + values.length, 0);
  const solved = ended.filter((r) => r.success.slice(0, turn).includes(1)).length;
  return {
    of,
    ended: ended.length,
    endedSoFar: bareEstimate(
      {
        name: `rightBy@turn${turn} of ended`,
        unit: 'rollouts',
        leftOut: ended.length - success.length,
        definition: 'provisional and biased: rollouts that end early are more often right',
      },
      success.length === 0 ? null : right / success.length,
      success.length,
    ),
    closedPrefix: {
      length: prefix.length,
      estimate: shareEstimate(
        {
          name: `rightBy@turn${turn} of the closed prefix`,
          unit: 'rollouts',
          leftOut: prefix.length - used,
          definition: `right at any turn up to ${turn}, of the first ${prefix.length} rollouts in play order, which have all ended`,
        },
        groups,
      ),
    },
    bounds: ended.some(isScored) ? null : [solved / of, (solved + of - ended.length) / of],
  };
}

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
