// Reads back a rollout's records for the activities that continue it; a missing record is an error.

import { StoreError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RolloutRecord, VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Store, Stored } from '../records/store.ts';
import { recordedResult, type RolloutResult } from '../domain/rollout/ending.ts';
import { outputTokens } from '../domain/rollout/turn-facts.ts';

export async function recordedRollout(store: Store, id: TrajectoryReference): Promise<Stored<RolloutRecord>> {
  return (await store.get('rollout', id)) ?? failMissing(store, id, 'its rollout record');
}

export async function recordedTurn(store: Store, id: TrajectoryReference, turn: number): Promise<Stored<TurnRecord>> {
  return (await store.get('turn', id, turn)) ?? failMissing(store, id, `turn ${turn}`);
}

/** Turns 1 … `count`, all of which must be there. */
export async function recordedTurns(
  store: Store,
  id: TrajectoryReference,
  count: number,
): Promise<Stored<TurnRecord>[]> {
  const turns: Stored<TurnRecord>[] = [];
  for (let turn = 1; turn <= count; turn++) {
    turns.push(await recordedTurn(store, id, turn));
  }
  return turns;
}

export async function recordedVerdict(
  store: Store,
  id: TrajectoryReference,
  turn: number,
): Promise<Stored<VerdictRecord>> {
  return (await store.get('verdict', id, turn)) ?? failMissing(store, id, `the verdict of turn ${turn}`);
}

/** Turns 1 … `count` with the replies to them, all of which must be there. */
export async function readJudgedTurns(store: Store, id: TrajectoryReference, count: number): Promise<EarlierTurn[]> {
  const turns = await recordedTurns(store, id, count);
  return Promise.all(
    turns.map(async ({ record }) => ({
      turn: record,
      verdict: (await recordedVerdict(store, id, record.turn)).record,
    })),
  );
}

export function failMissing(store: Store, id: TrajectoryReference, what: string): never {
  throw new StoreError(`Query "${id.query}", sample ${id.sample}: ${what} is not in ${store.folder}.`, {
    reason: 'record-missing',
    fix: 'Every worker of a run must reach the same folder; was a file removed?',
  });
}

export async function readEndedResult(store: Store, id: TrajectoryReference): Promise<RolloutResult | undefined> {
  const end = (await store.get('end', id))?.record;
  if (!end) return undefined;
  const turns = await recordedTurns(store, id, end.turns.length);
  const counted = turns.map(async ({ record }) => ({
    tokens: outputTokens(record),
    verdict: (await store.get('verdict', id, record.turn))?.record ?? null,
  }));
  return recordedResult(id, end, await Promise.all(counted));
}
