// The few numbers that stand for a run: at the head of its page, in the list of runs, behind `run`, in a table of several
// runs, as an evaluation. Each is an estimate of `runStatistics`, so that every place shows what `stats` does. Pure. And the
// same by turn from a run's counts, where its rollouts are not read.

import { type CollectionCounts, countInAccuracy } from '../run/progress.ts';
import type { RunSize, RolloutSummary } from '../rollout/rollout-summary.ts';
import type { Estimate } from './estimate.ts';
import { runStatistics, type RunStatistics } from './run-statistics.ts';

export interface Headline {
  /** Right by the answer of turn 1, by the last judged answer, by any answer: all the same where one turn counts. */
  readonly first: Estimate;
  readonly last: Estimate;
  readonly any: Estimate;
  /** G_1 of complete rollouts. */
  readonly meanReturn: Estimate;
}

/** The first k of the statistics must be 1. */
export function headlineOf({ passAtKFirst, passAtK, lastAnswer, returns }: RunStatistics): Headline {
  return { first: passAtKFirst[0]!, last: lastAnswer, any: passAtK[0]!, meanReturn: returns };
}

/** `begun`: begun rollouts, the last attempt of each. */
export const headlineOfRollouts = (
  begun: readonly RolloutSummary[],
  shape: RunSize,
  atTurn = shape.numTurns,
): Headline => headlineOf(runStatistics(begun, shape, { ks: [1], atTurn }));

export interface CountedTurn {
  /** 1-based. */
  readonly turn: number;
  readonly judged: number;
  readonly right: number;
  /** Right at any turn so far, of `of` rollouts. */
  readonly rightBy: number;
  readonly of: number;
}

type Counted = Pick<CollectionCounts, 'judgedAt' | 'rightAt' | 'rightBy' | 'steered'>;

/** `rollouts`: those that are counted, such as all of a run, or those that have ended. */
export function countedTurns(counts: Counted, rollouts: number): CountedTurn[] {
  const of = countInAccuracy(rollouts, counts);
  return counts.judgedAt.map((judged, i) => ({
    ...{ turn: i + 1, judged, of },
    ...{ right: counts.rightAt[i] ?? 0, rightBy: counts.rightBy[i] ?? 0 },
  }));
}

/** Right at any turn so far, of those that have ended. */
export const rightSoFar = (counts: Counted, ended: number): Pick<CountedTurn, 'rightBy' | 'of'> => ({
  ...{ rightBy: counts.rightBy.at(-1) ?? 0, of: countInAccuracy(ended, counts) },
});

/** Rewards without a verdict say nothing of right and wrong. */
export const hasVerdicts = ({ judgedAt }: Counted): boolean => judgedAt.some((judged) => judged > 0);
