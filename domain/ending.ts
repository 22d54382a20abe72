// A rollout's end, computed from its turns: outcome, rewards, and what to tell whoever waits.

import { outcomeOf, type StopReason } from './outcome.ts';
import { discountedReturns, type RewardSettings, turnReward } from './reward.ts';
import type { FailureFacts } from './rollout-facts.ts';
import type { RolloutResult, TrajectoryReference } from './rollout-result.ts';
import type { TurnFacts } from './turn.ts';
import { countedVerdicts } from './verdict.ts';

/** 1 right, 0 wrong, null not judged. */
export function successOf(verdict: TurnFacts['verdict']): 0 | 1 | null {
  return verdict === 'undecided' ? null : verdict === 'right' ? 1 : 0;
}

/**
 * The result of a rollout that ended with `stop` after `turns`. Returns exist for complete rollouts only: what failed or
 * could not be judged has no reward.
 */
export function rolloutResult(
  trajectory: TrajectoryReference,
  turns: readonly TurnFacts[],
  stop: StopReason,
  failure: FailureFacts | null,
  reward: RewardSettings,
): RolloutResult {
  const outcome = outcomeOf(stop);
  const success = turns.map((t) => successOf(t.verdict));
  const raw = success.map((s) => turnReward(s === 1, reward));
  return {
    outcome,
    stopReason: stop,
    turns: turns.length,
    rewards: outcome === 'complete' ? discountedReturns(raw, reward.turnDiscount) : [],
    success,
    verdicts: countedVerdicts(turns),
    tokens: turns.reduce((sum, t) => sum + t.outputTokens, 0),
    reason: failure?.reason ?? (stop === 'undecided' ? (turns.at(-1)?.reason ?? null) : null),
    ...(failure?.boundary && { boundary: failure.boundary }),
    trajectory,
  };
}
