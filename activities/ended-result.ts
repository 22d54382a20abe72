// The result of a rollout that ended, read back from its records.

import type { RolloutResult, TrajectoryReference } from '../domain/rollout-result.ts';
import { outputTokens } from '../domain/turn.ts';
import { countedVerdicts } from '../domain/verdict.ts';
import type { Store } from '../storage/store.ts';
import { recordedTurns } from './recorded.ts';

export async function endedResult(store: Store, id: TrajectoryReference): Promise<RolloutResult | undefined> {
  const end = (await store.getEnd(id))?.record;
  if (!end) return undefined;
  const turns = await recordedTurns(store, id, end.turns.length);
  const judged = await Promise.all(turns.map(({ record }) => store.getVerdict(id, record.turn)));
  const verdicts = judged.flatMap((verdict) => (verdict ? [verdict.record] : []));
  return {
    outcome: end.outcome,
    stopReason: end.stopReason,
    turns: turns.length,
    rewards: end.rewards,
    success: end.success,
    verdicts: countedVerdicts(verdicts),
    tokens: turns.reduce((sum, t) => sum + outputTokens(t.record), 0),
    reason: end.failure?.reason ?? (end.outcome === 'undecided' ? (verdicts.at(-1)?.reason ?? null) : null),
    ...(end.failure?.boundary && { boundary: end.failure.boundary }),
    trajectory: id,
  };
}
