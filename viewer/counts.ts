// The numbers of the runs that are looked at, counted again when their rows have changed: one count of a run at a time,
// in parts, between which other requests are answered. Leaves the formulas to model/.

import { inParts } from './in-batches.ts';
import { type Numbers, numbersInParts } from './model/numbers.ts';
import { type RunSummary, summaryInParts } from './model/summary.ts';
import type { OpenRun } from './runs.ts';

export interface Counted {
  readonly summary: RunSummary;
  readonly numbers: Numbers;
}

interface Count {
  readonly revision: number;
  readonly counted: Promise<Counted>;
  /** Until then it is not counted again: counting takes at most one part in PATIENCE of the time. */
  until: number;
}

const PATIENCE = 10;

export function openCounts(now: () => number): (open: OpenRun, goesOn: boolean) => Promise<Counted> {
  const known = new WeakMap<OpenRun, Count>();

  async function count({ index, total, shape }: OpenRun): Promise<Counted> {
    const rows = index.rows();
    const summary = await inParts(summaryInParts(rows, total, shape.numTurns));
    return { summary, numbers: await inParts(numbersInParts(rows, shape)) };
  }

  return (open, goesOn) => {
    const { revision } = open.index.progress;
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
