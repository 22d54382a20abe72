// Proves a run's records against Temporal's histories of its rollouts: every generation, verdict and end in a history is
// recorded once, with the same content. Each history is read before its records: a record is never behind it.

import { isDeepStrictEqual } from 'node:util';
import type { GeneratedTurn } from '../../domain/rollout/rollout-facts.ts';
import type { RolloutHistory, TurnHistory } from '../../domain/rollout/rollout-history.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { TrajectoryReference } from '../../domain/run/ids.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import { contextTokens, outputTokens, totalTokens, type TurnRecord } from '../../domain/rollout/turn.ts';
import { END_FILE, RESULT_FILE, ROLLOUT_FILE, rolloutFolder, turnFile, verdictFile } from '../format/layout.ts';
import type { OnBreach, Store, Stored } from '../store.ts';
import { differences } from './differences.ts';

export interface HistoriesSummary {
  /** Executions that were compared with their records. */
  readonly compared: number;
  /** Closed ones among them. */
  readonly closed: number;
  /** Executions of a run of this name in another folder, or in an earlier folder of the same path. */
  readonly elsewhere: number;
  /** Attempts of generations beyond the first of each turn: the cost of kills and failures. */
  readonly triedAgain: number;
}

export interface RunHistories {
  readonly rollouts: AsyncIterable<RolloutHistory>;
  /** The result of the last collection that completed, and its folder of runs. */
  readonly collection: { readonly out: string; readonly result: object } | undefined;
}

/** `out`: the folder of runs, as in the workflows' input. */
export async function checkHistories(
  store: Store,
  out: string,
  { rollouts, collection }: RunHistories,
  onBreach: OnBreach,
): Promise<HistoriesSummary> {
  const summary = { compared: 0, closed: 0, elsewhere: 0, triedAgain: 0 };
  const run = await store.getRun().catch(() => undefined);
  for await (const history of rollouts) {
    const ofAnotherRun = run && history.records?.run && history.records.run !== run.hash;
    if (ofAnotherRun || (history.out !== null && history.out !== out)) {
      summary.elsewhere++;
      continue;
    }
    summary.compared++;
    if (history.state !== 'running') summary.closed++;
    for (const { tries } of history.turns) summary.triedAgain += Math.max(0, tries - 1);
    await checkHistory(store, history, onBreach);
  }
  if (collection?.out === out && summary.compared > 0) await checkResult(store, collection.result, onBreach);
  return summary;
}

async function checkResult(store: Store, claimed: object, onBreach: OnBreach): Promise<void> {
  // Unreadable records are reported by the check of the folder.
  const stored = await store.getResult().catch(() => null);
  if (stored === null) return;
  if (!stored) onBreach({ path: RESULT_FILE, problem: 'is missing, though the collection says it was written' });
  else if (!isDeepStrictEqual(withoutFormat(stored.record), claimed))
    onBreach({ path: RESULT_FILE, problem: 'says another result than the history of the collection' });
}

function withoutFormat(record: object): object {
  const { format: _, ...result } = record as { format?: string };
  return result;
}

async function checkHistory(store: Store, history: RolloutHistory, onBreach: OnBreach): Promise<void> {
  const { rollout, turns, state } = history;
  // Its first step has not completed: no record need exist.
  if (!rollout) return;
  const folder = rolloutFolder(rollout);
  const breach = (file: string, problem: string) => onBreach({ path: `${folder}/${file}`, problem });
  /** Unreadable records are reported by the check of the folder. */
  async function read<T>(file: string, get: Promise<Stored<T> | undefined>): Promise<Stored<T> | undefined> {
    const found = await get.catch(() => null);
    if (found === undefined)
      breach(file, `is missing, though the history of ${history.workflowId} says it was written`);
    return found ?? undefined;
  }

  const begun = await read(ROLLOUT_FILE, store.getRollout(rollout));
  if (begun && history.records && history.records.rollout !== begun.hash) {
    breach(
      ROLLOUT_FILE,
      `is another record than the one that was fixed: ${begun.hash}; its history says ${history.records.rollout}`,
    );
  }
  for (const [i, turn] of turns.entries()) {
    const file = turnFile(turn.turn);
    if (turn.asked > 1) breach(file, `was asked for ${turn.asked} times, says its history`);
    // Calls of an agent may be asked for in any order.
    if (turn.turn !== i + 1 && !begun?.record.settings.program)
      breach(file, `was asked for as number ${i + 1}, says its history`);
    await checkTurn(turn, rollout);
  }
  const { result } = history;
  // A cancelled rollout has no result, but an end.
  if (!result && state !== 'cancelled') return;
  const end = await read(END_FILE, store.getEnd(rollout));
  if (!end) return;
  const problems = result ? await resultProblems(store, rollout, result, end.record) : [];
  for (const problem of problems) breach(END_FILE, problem);

  async function checkTurn({ turn, generated, judged }: TurnHistory, id: TrajectoryReference): Promise<void> {
    if (generated && !generated.noRoom) {
      const file = turnFile(turn);
      const stored = await read(file, store.getTurn(id, turn));
      if (stored) for (const problem of turnProblems(generated, stored)) breach(file, problem);
    }
    if (!judged) return;
    const file = verdictFile(turn);
    const verdict = (await read(file, store.getVerdict(id, turn)))?.record;
    if (!verdict) return;
    const { verdict: value, reason } = judged;
    for (const problem of differences(verdict, { verdict: value, reason }, BY_HISTORY)) breach(file, problem);
  }
}

const BY_HISTORY = 'its history says';

function turnProblems(claimed: GeneratedTurn, { record, hash }: Stored<TurnRecord>): string[] {
  if (claimed.hash !== hash) {
    return [`is another record than the one that was generated: ${hash}; its history says ${claimed.hash}`];
  }
  const { outputTokens: output, contextTokens: context, finish, versionStart, versionEnd } = claimed;
  const says = { ...record, outputTokens: outputTokens(record), contextTokens: contextTokens(record) };
  const right = { outputTokens: output, contextTokens: context, finish, versionStart, versionEnd };
  return differences(says, right, BY_HISTORY);
}

async function resultProblems(store: Store, id: TrajectoryReference, claimed: RolloutResult, end: EndRecord) {
  const turns = await Promise.all(end.turns.map((_, i) => store.getTurn(id, i + 1).catch(() => undefined)));
  const tokens = totalTokens(turns.map((turn) => (turn ? outputTokens(turn.record) : 0)));
  const says = { ...end, turns: end.turns.length, tokens, reason: end.failure?.reason };
  const { outcome, stopReason, returns, success, turns: count, reason } = claimed;
  const right = {
    ...{ outcome, stopReason, returns, success, turns: count },
    ...(!turns.includes(undefined) && { tokens: claimed.tokens }),
    ...(end.failure && { reason }),
  };
  return differences(says, right, BY_HISTORY);
}
