// The result of a rollout that ended, read back from its records.

import type { RolloutResult, TrajectoryReference } from '../domain/rollout-result.ts';
import { outputTokens } from '../domain/turn.ts';
import type { Store } from '../storage/store.ts';
import { recordedTurns } from './recorded.ts';

export async function endedResult(store: Store, id: TrajectoryReference): Promise<RolloutResult | undefined> {
  const end = (await store.getEnd(id))?.record;
  if (!end) return undefined;
  const turns = await recordedTurns(store, id, end.turns.length);
  const lastVerdict = end.outcome === 'undecided' ? await store.getVerdict(id, end.turns.length) : undefined;
  return {
    outcome: end.outcome,
    stopReason: end.stopReason,
    turns: turns.length,
    rewards: end.rewards,
    success: end.success,
    tokens: turns.reduce((sum, t) => sum + outputTokens(t.record), 0),
    reason: end.failure?.reason ?? lastVerdict?.record.reason ?? null,
    trajectory: id,
  };
}
