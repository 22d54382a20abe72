// The numbers of the runs that are looked at, counted again when their rows have changed: one count of a run at a time,
// in parts, between which other requests are answered. Leaves the formulas to model/.

import { inParts } from './in-batches.ts';
import type { RunState } from './model/messages.ts';
import { type Numbers, numbersInParts } from './model/numbers.ts';
import { type RunSummary, summaryInParts } from './model/summary.ts';
import type { OpenRun } from './runs.ts';

export interface Counted {
  readonly revision: number;
  readonly summary: RunSummary;
  readonly numbers: Numbers;
  /** When it was made, and how long that took. */
  readonly at: number;
  readonly tookMs: number;
}

/** A longer list has its intervals when it is complete. */
const SOON = 5_000;
const NO_NUMBERS: Numbers = { byTurn: [], passAtK: [], provisional: null };
/** Counting takes at most one part in so many of the time. */
const PATIENCE = 10;

export function openCounts(now: () => number): (open: OpenRun, state: RunState) => Promise<Counted> {
  const known = new WeakMap<OpenRun, Counted>();
  const going = new WeakMap<OpenRun, Promise<unknown>>();

  async function count(open: OpenRun, state: RunState): Promise<Counted> {
    const { revision, listed, glanced, begun: rowsBegun } = open.index.progress;
    const last = known.get(open);
    const begun = now();
    // Of a long run that is still read or played, the numbers may be a little older than the rows; it is asked again.
    const changes = state === 'open' || !listed || glanced < rowsBegun;
    if (last && (last.revision === revision || (changes && begun - last.at < PATIENCE * last.tookMs))) return last;
    const rows = open.index.rows();
    const summary = await inParts(summaryInParts(rows, open.total, open.record.settings.numTurns));
    const whole = listed || rows.length < SOON;
    const numbers = whole ? await inParts(numbersInParts(rows, open.shape)) : NO_NUMBERS;
    const counted = { revision, summary, numbers, at: now(), tookMs: now() - begun };
    known.set(open, counted);
    return counted;
  }

  return (open, state) => {
    const mine = (going.get(open) ?? Promise.resolve()).then(() => count(open, state));
    going.set(
      open,
      mine.catch(() => undefined),
    );
    return mine;
  };
}
