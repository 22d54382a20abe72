// A rollout's last step: stores its end, with rewards and the hashes of its turns. The first end stands: if a workflow
// task whose worker died has stored one, that one is returned.

import { leavesOf } from '../domain/samples/branches.ts';
import { CALLED } from '../domain/rollout/calls.ts';
import { turnRewards } from '../domain/rollout/reward.ts';
import type { RolloutResult } from '../domain/rollout/ending.ts';
import { callDepths, scoredCalls, untrainedCalls } from '../domain/rollout/call-credit.ts';
import type { Failure, RolloutRecord, VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { Store, Stored } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';
import { endOfAgent } from './agent-log.ts';
import { readEndedResult, recordedRollout, recordedTurns } from './recorded.ts';
import { writeLogs } from './log.ts';

export interface FinishInput {
  readonly result: RolloutResult;
  /** The failure's message, for people. */
  readonly message: string | null;
}

export function finishActivity({ openStore, now }: ActivityDeps) {
  return async function finish({ result, message }: FinishInput): Promise<RolloutResult | null> {
    const id = result.trajectory;
    const store = openStore(id.out, id.run);
    const { record: rollout } = await recordedRollout(store, id);
    const turns = await recordedTurns(store, id, result.turns);
    const { success, turnRewards: own, called = [] } = result;
    const ofCalls = success.map((_, i) => (called.includes(i + 1) ? 0 : undefined));
    const agent = rollout.settings.program && (await closeCalls(store, id, rollout, turns, result));
    await writeLogs(
      store,
      id,
      rollout,
      turns.map((turn) => turn.record),
    );
    const failed = result.outcome === 'failed';
    const said = turns.flatMap(({ record }) => (record.said ? [record.turn] : []));
    const { record: stored } = await store.put('end', id, {
      outcome: result.outcome,
      stopReason: result.stopReason,
      failure: failed ? failureOf(result, message) : null,
      turnRewards: own ?? turnRewards(success, rollout.settings, ofCalls),
      returns: result.returns,
      success: result.success,
      turns: turns.map((t) => t.hash),
      finishedAt: now(),
      ...(said.length > 0 && { said }),
      ...(called.length > 0 && { called }),
      ...agent,
    });
    const same =
      stored.stopReason === result.stopReason &&
      stored.turns.length === result.turns &&
      String(stored.returns) === String(result.returns) &&
      stored.failure?.reason === (failed ? (result.reason ?? 'unknown') : undefined);
    return same ? null : ((await readEndedResult(store, id)) ?? null);
  };
}

/** Nobody judges the calls of an agent but its last one. Returns what its end has beside that of another rollout. */
async function closeCalls(
  store: Store,
  id: TrajectoryReference,
  { settings }: RolloutRecord,
  turns: readonly Stored<TurnRecord>[],
  { outcome, stopReason: stop }: RolloutResult,
) {
  const { abandoned, callRewards = [] } = (await endOfAgent(store, id)) ?? {};
  const rewards = new Map(callRewards.map(({ turn, reward }) => [turn, reward]));
  const verdicts: VerdictRecord[] = [];
  for (const { record, hash } of turns) {
    const { turn } = record;
    const callReward = rewards.get(turn);
    const own = { ...CALLED, of: hash, tookMs: 0, ...(callReward !== undefined && { callReward }) };
    const { record: said } =
      (await store.get('verdict', id, turn)) ?? (await store.put('verdict', id, { turn, ...own }));
    verdicts.push(said);
  }
  const records = turns.map(({ record }) => record);
  const untrained = untrainedCalls(records, settings);
  const { turnRewards: own, returns } = scoredCalls(records, verdicts, stop, settings, abandoned);
  return {
    turnRewards: own,
    returns: outcome === 'complete' ? returns : [],
    ...(abandoned && { abandoned }),
    branches: leavesOf(records, [...(abandoned ?? []), ...untrained]).length,
    ...(untrained.length > 0 && { untrained }),
    depths: callDepths(records),
  };
}

function failureOf({ boundary, reason, turns }: RolloutResult, message: string | null): Failure {
  return { boundary: boundary!, reason: reason ?? 'unknown', message: message ?? '', turn: turns + 1 };
}
