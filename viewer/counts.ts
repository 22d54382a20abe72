// The numbers of the runs that are looked at, counted again when their rows have changed: one count of a run at a time,
// in parts, between which other requests are answered. Leaves the formulas to model/.

import { inParts } from './in-batches.ts';
import { type RunSummary, summaryInParts } from './model/summary.ts';
import type { OpenRun } from './runs.ts';
import { openTrainedAt } from './trained-at.ts';

interface Count {
  /** The revision of the rows, and that of the feed's ledger. */
  readonly revision: string;
  readonly counted: Promise<RunSummary>;
  /** Until then it is not counted again: counting takes at most one part in PATIENCE of the time. */
  until: number;
}

const PATIENCE = 10;

export function openCounts(now: () => number): (open: OpenRun, goesOn: boolean) => Promise<RunSummary> {
  const known = new WeakMap<OpenRun, Count>();

  const trainedAt = openTrainedAt();

  async function count(open: OpenRun): Promise<RunSummary> {
    const trained = open.record.train && (await trainedAt(open));
    return inParts(summaryInParts(open.index.rows(), open.shape, trained));
  }

  return async (open, goesOn) => {
    const entries = open.record.train ? await open.store.countFeedEntries() : 0;
    const revision = `${open.index.progress.revision} ${entries}`;
    const last = known.get(open);
    if (last && (last.revision === revision || now() < last.until)) return last.counted;
    const begun = now();
    const fresh: Count = { revision, counted: count(open), until: Infinity };
    known.set(open, fresh);
    const over = () => void (fresh.until = goesOn ? begun + PATIENCE * (now() - begun) : 0);
    fresh.counted.then(over, over);
    return fresh.counted;
  };
}
