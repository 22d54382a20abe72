// The result of a rollout that ended, read back from its records.

import { recordedResult, type RolloutResult } from '../domain/rollout/ending.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import { outputTokens } from '../domain/rollout/turn-facts.ts';
import type { Store } from '../records/store.ts';
import { recordedTurns } from './recorded.ts';

export async function readEndedResult(store: Store, id: TrajectoryReference): Promise<RolloutResult | undefined> {
  const end = (await store.getEnd(id))?.record;
  if (!end) return undefined;
  const turns = await recordedTurns(store, id, end.turns.length);
  const counted = turns.map(async ({ record }) => ({
    tokens: outputTokens(record),
    verdict: (await store.getVerdict(id, record.turn))?.record ?? null,
  }));
  return recordedResult(id, end, await Promise.all(counted));
}
