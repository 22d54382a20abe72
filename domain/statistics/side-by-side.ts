// Several runs of the same queries: the accuracy of each at turn 1 and at the last turn that all of them play, and its paired
// difference with the first run. Pure.

import type { RunSize } from '../rollout/rollout-summary.ts';
import { type ComparedRun, type Comparison, comparison } from './comparison.ts';
import type { Estimate } from './estimate.ts';
import { runStatistics } from './run-statistics.ts';

export interface AtTurn {
  readonly accuracy: Estimate;
  /** Null where nothing was left out. */
  readonly leftOutWrong: Estimate | null;
  /** pass@k of all samples of a query; null where a query has one. */
  readonly passAtAll: Estimate | null;
  /** Null for the first run. */
  readonly against: Pick<Comparison, 'atTurn' | 'difference' | 'signTest' | 'table'> | null;
}

/** Each run at turn 1 and at the last turn; once where that is the same turn. */
export function sideBySide(
  runs: readonly (ComparedRun & { readonly shape: RunSize })[],
): readonly (readonly AtTurn[])[] {
  const numTurns = Math.min(...runs.map(({ shape }) => shape.numTurns));
  const [first] = runs;
  return runs.map((run) =>
    [...new Set([1, numTurns])].map((atTurn) => ({
      ...numbersOf(run, atTurn, numTurns),
      against: run === first ? null : shortly(comparison(first!, run, { atTurn })),
    })),
  );
}

function numbersOf(
  { rollouts, shape }: Pick<ComparedRun, 'rollouts'> & { readonly shape: RunSize },
  atTurn: number,
  numTurns: number,
) {
  const samples = shape.samples * shape.epochs;
  const { passAtKFirst, passAtK, leftOutWrong } = runStatistics(rollouts, shape, { ks: [1, samples], atTurn });
  const [one, all] = atTurn < numTurns ? passAtKFirst : passAtK;
  return {
    accuracy: one!,
    leftOutWrong: one!.leftOut === 0 && leftOutWrong.value === one!.value ? null : leftOutWrong,
    passAtAll: samples > 1 ? all! : null,
  };
}

/** `everturn compare a b` has every pair. */
function shortly({ difference, signTest, table, atTurn }: Comparison): AtTurn['against'] {
  return { atTurn, difference, signTest, table };
}
