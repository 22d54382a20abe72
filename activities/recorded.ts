// Reads back a rollout's records for the activities that continue it; a missing record is an error.

import type { AskedRecord } from '../domain/agent/call-record.ts';
import type { AgentEnd } from '../domain/agent/program.ts';
import { StoreError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RolloutRecord, VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Store, Stored } from '../records/store.ts';

export async function recordedRollout(store: Store, id: TrajectoryReference): Promise<Stored<RolloutRecord>> {
  return (await store.getRollout(id)) ?? missing(store, id, 'its rollout record');
}

export async function recordedTurn(store: Store, id: TrajectoryReference, turn: number): Promise<Stored<TurnRecord>> {
  return (await store.getTurn(id, turn)) ?? missing(store, id, `turn ${turn}`);
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

/** The turns on the path to this one, and itself; none for null. */
export async function recordedPath(
  store: Store,
  id: TrajectoryReference,
  turn: number | null,
): Promise<Stored<TurnRecord>[]> {
  const path: Stored<TurnRecord>[] = [];
  for (let at = turn; at !== null; at = path[0]!.record.asked?.parent ?? null) {
    const found = await recordedTurn(store, id, at);
    if (found.record.asked && (found.record.asked.parent ?? 0) >= at) missing(store, id, `a turn before turn ${at}`);
    path.unshift(found);
  }
  return path;
}

export async function recordedAsked(store: Store, id: TrajectoryReference, turn: number): Promise<AskedRecord> {
  return (await store.getAsked(id, turn))?.record ?? missing(store, id, `the call of turn ${turn}`);
}

/** The end of the agent's program, behind the entries of its attempts (agent-log.ts); undefined while it runs. */
export async function endOfAgent(store: Store, id: TrajectoryReference): Promise<AgentEnd | undefined> {
  for (let entry = 1; ; entry++) {
    const there = await store.getAgent(id, entry);
    if (!there || there.record.ended) return there?.record.ended;
  }
}

export async function recordedAgent(store: Store, id: TrajectoryReference): Promise<AgentEnd> {
  return (await endOfAgent(store, id)) ?? missing(store, id, 'the end of its agent');
}

export async function recordedVerdict(
  store: Store,
  id: TrajectoryReference,
  turn: number,
): Promise<Stored<VerdictRecord>> {
  return (await store.getVerdict(id, turn)) ?? missing(store, id, `the verdict of turn ${turn}`);
}

/** Turns 1 … `count` with the replies to them, all of which must be there. */
export async function earlierTurns(store: Store, id: TrajectoryReference, count: number): Promise<EarlierTurn[]> {
  const turns = await recordedTurns(store, id, count);
  return Promise.all(
    turns.map(async ({ record }) => ({
      turn: record,
      verdict: (await recordedVerdict(store, id, record.turn)).record,
    })),
  );
}

function missing(store: Store, id: TrajectoryReference, what: string): never {
  throw new StoreError(`Query "${id.query}", sample ${id.sample}: ${what} is not in ${store.folder}.`, {
    reason: 'record-missing',
    fix: 'Every worker of a run must reach the same folder; was a file removed?',
  });
}
