// A run or a fork of which every rollout failed: the same command plays it again, under its name. The records of then are set
// aside, whole. Left as it is: a run in a bucket, one that a trainer lives on, and one that was cancelled.

import { countEnded } from '../domain/run/progress.ts';
import { setAside } from '../records/disk/set-aside.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Caller } from './caller.ts';
import { knownResult, recordedProgress, type RunPlace } from './place.ts';
import { isOnDisk } from '../records/place.ts';

/** Returns what moves the run's folder away, and tells it; undefined: it is not to be played again. */
export async function againIfAllFailed(
  place: RunPlace,
  record: RunRecord,
  { now, onEvent }: Pick<Caller, 'now' | 'onEvent'>,
): Promise<(() => Promise<void>) | undefined> {
  const { store, run } = place;
  if (!isOnDisk(store.folder) || record.train || record.evaluates) return undefined;
  const result = await knownResult(place);
  if (!result || result.cancelled || result.counts.outcomes.failed < Math.max(1, result.total)) return undefined;
  // A later attempt may have ended otherwise, or may be played now.
  const { counts, inFlight } = await recordedProgress(place);
  if (inFlight > 0 || counts.outcomes.failed < countEnded(counts)) return undefined;
  return async () => {
    const folder = await setAside(store.folder, now());
    onEvent({ type: 'set-aside', run, folder, reasons: Object.keys(counts.reasons) });
  };
}
