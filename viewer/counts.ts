// The numbers of the runs that are looked at, counted again when their rows have changed: one count of a run at a time,
// in parts, between which other requests are answered. Leaves the formulas to model/.

import { inParts } from './in-batches.ts';
import { type RunSummary, summaryInParts, type TrainedAt } from './model/summary.ts';
import type { OpenRun } from './runs.ts';
import { addEntry, emptyLine } from '../domain/feed/entry.ts';
import { epochOf } from '../domain/samples/group.ts';
import { eachNumber } from '../domain/feed/number-set.ts';

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

/** Not to be called again for a run before it has ended. */
export function openTrainedAt(): (open: OpenRun) => Promise<TrainedAt> {
  const known = new WeakMap<OpenRun, ReturnType<typeof nothingRead>>();
  return async (open) => {
    const { store, shape } = open;
    const read = known.get(open) ?? nothingRead();
    known.set(open, read);
    for (let entry; (entry = (await store.get('feed', read.entries + 1))?.record); read.entries++) {
      for (const { groups } of addEntry(read.line, entry))
        for (const group of eachNumber(groups)) read.at.delete(group);
      if (entry.kind !== 'trained') continue;
      // The step that makes a version is taken with the one before it.
      for (const group of eachNumber(entry.groups)) read.at.set(group, entry.version - 1);
    }
    return ({ index, sample }) =>
      index === null ? undefined : read.at.get(epochOf(shape, sample) * shape.queries + index);
  };
}

const nothingRead = () => ({ entries: 0, line: emptyLine(), at: new Map<number, number>() });
