// Reads a run's result, or the counts of the rollouts that have ended so far, from its folder, without Temporal.

import { samplesPerQuery } from '../../domain/rollout/group.ts';
import { addResult, type CollectionCounts, ended, noCounts } from '../../domain/run/progress.ts';
import { resultOf } from '../../domain/rollout/trajectory.ts';
import { readTrajectories } from '../../records/trajectories.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import type { RunPlace } from './place.ts';

/** The stored result of the run; undefined until it has ended. */
export async function knownResult({ store }: RunPlace): Promise<CollectionResult | undefined> {
  const stored = await store.getResult();
  // The collection itself writes it, as a whole, with a hash.
  return stored?.record as CollectionResult | undefined;
}

export interface RecordedProgress {
  readonly total: number;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
  /** Rollouts that have begun and not ended. */
  readonly unfinished: number;
}

export async function recordedProgress({ out, store }: RunPlace): Promise<RecordedProgress> {
  const record = (await store.getRun())?.record;
  const numTurns = record?.settings.numTurns ?? 0;
  const counts = noCounts();
  let unfinished = 0;
  for await (const trajectory of readTrajectories(store)) {
    const result = resultOf(out, trajectory);
    if (result) addResult(counts, result, numTurns);
    else unfinished++;
  }
  // Rollouts that a client started directly have no list of queries.
  const total = Math.max(
    (await store.countQueries()) * (record ? samplesPerQuery(record) : 1),
    ended(counts) + unfinished,
  );
  return { total, numTurns, counts, unfinished };
}
