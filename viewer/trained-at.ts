// The version of the weights at which each group of a training run was trained, along their surviving line, from the feed's
// ledger. Entries are read once.

import { addEntry, emptyLine } from '../domain/feed/entry.ts';
import { epochOf } from '../domain/samples/group.ts';
import { eachNumber } from '../domain/feed/number-set.ts';
import type { TrainedAt } from './model/summary.ts';
import type { OpenRun } from './runs.ts';

/** Not to be called again for a run before it has ended. */
export function openTrainedAt(): (open: OpenRun) => Promise<TrainedAt> {
  const known = new WeakMap<OpenRun, ReturnType<typeof nothingRead>>();
  return async (open) => {
    const { store, shape } = open;
    const read = known.get(open) ?? nothingRead();
    known.set(open, read);
    for (let entry; (entry = (await store.getFeedEntry(read.entries + 1))?.record); read.entries++) {
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
