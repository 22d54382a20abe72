// An undecided rollout up to its last judged turn, as if it had ended there. Nothing is invented: each of those turns
// is right or wrong by its own verdict, and the returns are computed over those turns alone.

import { successOf } from './ending.ts';
import { discountedReturns, turnRewards } from './reward.ts';
import type { EndRecord, Trajectory } from './trajectory.ts';

/** Undecided rollouts in an export: left out, or their finished turns exported. */
export const UNDECIDED = ['drop', 'finished-turns'] as const;
export type UndecidedPolicy = (typeof UNDECIDED)[number];

/** Undefined if no turn was judged. `end.outcome` must be `undecided`. */
export function finishedTurns({ rollout, turns, end }: Trajectory): Trajectory | undefined {
  const open = turns.findIndex(({ verdict }) => !verdict || verdict.verdict === 'undecided');
  const count = open < 0 ? turns.length : open;
  const success = turns.map(({ verdict }) => (verdict ? successOf(verdict.verdict) : null));
  if (!end || count === 0) return undefined;
  const rewards = turnRewards(
    success.slice(0, count),
    rollout.settings,
    turns.map(({ verdict }) => verdict?.reward),
  );
  const ended: EndRecord = {
    ...end,
    outcome: 'complete',
    turnRewards: rewards,
    rewards: discountedReturns(rewards, rollout.settings.turnDiscount),
    success: success.slice(0, count),
    turns: end.turns.slice(0, count),
  };
  return { rollout, turns: turns.slice(0, count), end: ended };
}
