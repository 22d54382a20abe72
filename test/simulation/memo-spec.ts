// When a collection writes its memo: at its start and end, on every update, and when as many rollouts have ended since as
// are a sixteenth of those that may be in flight; never more often, and never with wrong figures.

import type { CollectionCounts } from '../../domain/run/progress.ts';
import type { MemoProgress } from '../../domain/run/messages.ts';
import { must } from './breach.ts';
import type { Step } from './history.ts';
import { RUN } from './names.ts';
import { sameCounts } from './tally.ts';
import { valueOf } from './wire.ts';

const MEMO_SHARE = 1 / 16;

/** What is so after a step. */
export interface Facts {
  readonly total: number;
  readonly maxConcurrent: number;
  readonly paused: boolean;
  readonly stopping: boolean;
  readonly isFinished: boolean;
  readonly numTurns: number;
  /** Of all that ended until then. */
  readonly counts: CollectionCounts;
}

/** What happened in a step. */
export interface Happened {
  /** The window was opened. */
  readonly opened: boolean;
  /** Words that changed something while it was open, and those that may have; its end is one. */
  readonly steered: number;
  readonly maybeSteered: number;
  /** Rollouts that were counted. */
  readonly moved: number;
}

export function openMemoSpec(): (step: Step, facts: Facts, happened: Happened) => void {
  /** Rollouts that were counted since the last memo: between these. */
  let [untold, mostUntold] = [0, 0];
  let doneBefore = 0;
  return ({ activation: { timestampMs: now }, commands }, facts, { opened, steered, maybeSteered, moved }) => {
    const told = commands.flatMap(({ modifyWorkflowProperties: modify }) =>
      modify ? [valueOf<MemoProgress>(modify.upsertedMemo.fields['progress'])] : [],
    );
    const share = Math.max(1, Math.ceil(facts.maxConcurrent * MEMO_SHARE));
    if (opened) [untold, mostUntold] = [0, 0];
    const mayBeSteered = steered + maybeSteered > 0;
    const atLeast = (opened ? 1 : 0) + (mayBeSteered ? 0 : Math.floor((untold + moved) / share));
    const atMost = (opened ? 1 : 0) + Math.floor((mostUntold + moved) / share);
    const [least, most] = [Math.max(steered, atLeast), steered + maybeSteered + atMost];
    must(
      told.length >= least && told.length <= most,
      () => `it writes its memo ${told.length} times, and should ${least} to ${most} times`,
    );
    const last = told.at(-1);
    const isExact = !mayBeSteered && untold === mostUntold;
    if (isExact) untold = mostUntold = (untold + moved) % share;
    else if (!mayBeSteered && last && moved === 1) untold = mostUntold = 0;
    else [untold, mostUntold] = [0, Math.min(share - 1, mostUntold + moved)];
    const before = doneBefore;
    doneBefore = doneOf(facts.counts);
    if (!last) return;
    const state = facts.stopping ? 'stopping' : facts.paused ? 'paused' : 'running';
    const isSo =
      last.run === RUN &&
      last.toldAt === now &&
      last.total === facts.total &&
      last.numTurns === facts.numTurns &&
      last.done === doneOf(last.counts) &&
      // Something more may have ended in the same step.
      (opened || last.done >= before) &&
      last.done <= doneBefore &&
      (last.done < doneBefore || sameCounts(last.counts, facts.counts)) &&
      (last.state === 'ended' ? facts.isFinished : maybeSteered > 0 || last.state === state) &&
      last.maxConcurrent === facts.maxConcurrent;
    must(isSo, () => `it tells ${JSON.stringify(last)}, where ${JSON.stringify(facts)} is so`);
  };
}

const doneOf = ({ outcomes }: CollectionCounts): number => Object.values(outcomes).reduce((sum, n) => sum + n, 0);
