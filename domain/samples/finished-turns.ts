// An undecided rollout up to its last judged turn, as if it had ended there. Nothing is invented: each of those turns
// is right or wrong by its own verdict, and the returns are computed over those turns alone.

import { scoredTurns } from '../rollout/ending.ts';
import type { EndRecord, Trajectory } from '../rollout/trajectory.ts';

/** Undecided rollouts in an export: left out, or their finished turns exported. */
export const UNDECIDED = ['drop', 'finished-turns'] as const;
export type UndecidedPolicy = (typeof UNDECIDED)[number];

/** Undefined if no turn was judged. `end.outcome` must be `undecided`. */
export function finishedTurns({ rollout, turns, end }: Trajectory): Trajectory | undefined {
  const open = turns.findIndex(({ verdict }) => !verdict || verdict.verdict === 'undecided');
  const count = open < 0 ? turns.length : open;
  if (!end || count === 0) return undefined;
  const judged = turns.slice(0, count).map(({ verdict }) => verdict!);
  const { success, turnRewards, returns, called } = scoredTurns(judged, 'undecided', rollout.settings);
  // A turn that called tools was followed by no judged answer: nothing is known of what it led to.
  if (called.length === count) return undefined;
  const ended: EndRecord = {
    ...end,
    outcome: 'complete',
    turnRewards,
    returns,
    success,
    ...(called.length > 0 && { called }),
    turns: end.turns.slice(0, count),
  };
  return { rollout, turns: turns.slice(0, count), end: ended };
}
