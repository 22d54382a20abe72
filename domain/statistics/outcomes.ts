// Facts of one rollout from its summary: right at a turn, right by a turn, its last answer. `null` is unknown (failed,
// undecided, in flight): never 0.

import type { RolloutSummary } from '../rollout/rollout-summary.ts';

type Success = 0 | 1 | null;
type Answers = Pick<RolloutSummary, 'outcome' | 'success'>;

export const hasRolloutEnded = ({ outcome }: RolloutSummary): boolean => outcome !== null;

/** Whether this turn is right; null also if it was not played. */
export function rightAt({ success }: RolloutSummary, turn: number): Success {
  return success[turn - 1] ?? null;
}

/**
 * Whether any turn up to this one is right. Known if the rollout is complete, or all turns up to this one were judged. A rollout that
 * broke off earlier is unknown even if it was right before: counting only those would favour `right`.
 */
export function rightBy({ outcome, success }: Answers, turn: number): Success {
  const seen = upTo(success, turn);
  // A complete rollout has a null where an environment gave a reward and no verdict: neither right nor wrong.
  const judged = seen.some((one) => one !== null);
  const known = outcome === 'complete' ? judged : seen.length === turn && !seen.includes(null);
  return known ? (seen.includes(1) ? 1 : 0) : null;
}

/** A long run asks for all turns of a hundred thousand rollouts, several times. */
const upTo = (success: readonly Success[], turn: number): readonly Success[] =>
  turn >= success.length ? success : success.slice(0, turn);

/** Whether the last judged turn up to this one is right, in a rollout for which `rightBy` is known. */
export function rightAtLast(rollout: Answers, turn: number): Success {
  if (rightBy(rollout, turn) === null) return null;
  return upTo(rollout.success, turn).findLast((one) => one !== null) ?? null;
}

/** Complete, with rewards alone: no verdict of right or wrong exists. */
export function isScored({ outcome, success }: RolloutSummary): boolean {
  return outcome === 'complete' && success.every((one) => one === null);
}

export interface QueryGroup {
  readonly query: string;
  readonly rollouts: readonly RolloutSummary[];
}

/** The rollouts of each query, in the order of their first one. */
export function byQuery(rollouts: Iterable<RolloutSummary>): QueryGroup[] {
  const groups = new Map<string, RolloutSummary[]>();
  for (const rollout of rollouts) {
    const known = groups.get(rollout.query);
    if (known) known.push(rollout);
    else groups.set(rollout.query, [rollout]);
  }
  return Array.from(groups, ([query, own]) => ({ query, rollouts: own }));
}

/** Numbers that are known, without the others. */
export function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

/** The turns that are answers: those that called tools are none. */
export function answersOf({ turns }: RolloutSummary): RolloutSummary['turns'] {
  return turns.some(({ verdict }) => verdict === 'called')
    ? turns.filter(({ verdict }) => verdict !== 'called')
    : turns;
}
