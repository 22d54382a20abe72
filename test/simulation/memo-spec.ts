// When a collection writes its memo: at its start and end, on every update, and if a rollout ended and the last memo is
// 5 s old; never more often, and never with wrong figures.

import type { CollectionCounts } from '../../domain/progress.ts';
import type { MemoProgress } from '../../domain/messages.ts';
import { must } from './breach.ts';
import type { Step } from './history.ts';
import { RUN } from './names.ts';
import { sameCounts } from './tally.ts';
import { valueOf } from './wire.ts';

const MEMO_MS = 5000;

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
  /** Rollouts were counted. */
  readonly moved: boolean;
}

export function openMemoSpec(): (step: Step, facts: Facts, happened: Happened) => void {
  let toldAt = -Infinity;
  let doneBefore = 0;
  return ({ activation: { timestampMs: now }, commands }, facts, { opened, steered, maybeSteered, moved }) => {
    const told = commands.flatMap(({ modifyWorkflowProperties: modify }) =>
      modify ? [valueOf<MemoProgress>(modify.upsertedMemo.fields['progress'])] : [],
    );
    if (opened) toldAt = -Infinity;
    const due = opened || (moved && now - toldAt >= MEMO_MS);
    const [least, most] = [Math.max(steered, due ? 1 : 0), steered + maybeSteered + (due ? 1 : 0)];
    must(
      told.length >= least && told.length <= most,
      () => `it writes its memo ${told.length} times, and should ${least} to ${most} times`,
    );
    const last = told.at(-1);
    if (last) toldAt = now;
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
      (last.state === 'finished' ? facts.isFinished : maybeSteered > 0 || last.state === state) &&
      last.maxConcurrent === facts.maxConcurrent;
    must(isSo, () => `it tells ${JSON.stringify(last)}, where ${JSON.stringify(facts)} is so`);
  };
}

const doneOf = ({ outcomes }: CollectionCounts): number => Object.values(outcomes).reduce((sum, n) => sum + n, 0);
