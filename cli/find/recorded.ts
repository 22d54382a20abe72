// What a run's folder says of the run, without Temporal: its result, or the counts of what has ended so far.

import { addResult, type CollectionCounts, ended, noCounts } from '../../domain/progress.ts';
import type { RolloutResult } from '../../domain/rollout-result.ts';
import type { Trajectory } from '../../domain/trajectory.ts';
import { outputTokens } from '../../domain/turn.ts';
import { countedVerdicts } from '../../domain/verdict.ts';
import { readTrajectories } from '../../storage/trajectories.ts';
import type { CollectionResult } from '../../domain/messages.ts';
import type { RunPlace } from './place.ts';

/** The run's last word; undefined while it has none. */
export async function knownResult({ store }: RunPlace): Promise<CollectionResult | undefined> {
  const stored = await store.getResult();
  // Written by the collection itself, as a whole, with a hash.
  return stored?.record as CollectionResult | undefined;
}

export interface RecordedProgress {
  readonly total: number;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
  /** Rollouts that have begun and not ended. */
  readonly unfinished: number;
}

export async function recordedProgress({ out, run, store }: RunPlace): Promise<RecordedProgress> {
  const record = (await store.getRun())?.record;
  const numTurns = record?.settings.numTurns ?? 0;
  const counts = noCounts();
  let unfinished = 0;
  for await (const trajectory of readTrajectories(store)) {
    const result = resultOfTrajectory(out, run, trajectory);
    if (result) addResult(counts, result, numTurns);
    else unfinished++;
  }
  // Rollouts that were started one by one have no list of queries behind them.
  const total = Math.max((await store.countQueries()) * (record?.samples ?? 1), ended(counts) + unfinished);
  return { total, numTurns, counts, unfinished };
}

function resultOfTrajectory(out: string, run: string, { rollout, turns, end }: Trajectory): RolloutResult | undefined {
  if (!end) return undefined;
  const { query, sample, attempt } = rollout;
  const reason = end.failure?.reason ?? (end.outcome === 'undecided' ? (turns.at(-1)?.verdict?.reason ?? null) : null);
  return {
    outcome: end.outcome,
    stopReason: end.stopReason,
    turns: turns.length,
    rewards: end.rewards,
    success: end.success,
    verdicts: countedVerdicts(turns.flatMap(({ verdict }) => verdict ?? [])),
    tokens: turns.reduce((sum, { record }) => sum + outputTokens(record), 0),
    reason,
    ...(end.failure?.boundary && { boundary: end.failure.boundary }),
    trajectory: { out, run, query: query.queryId, sample, attempt },
  };
}
