// Several runs of the same queries: the accuracy of each at turn 1 and at the last turn that all of them play, and its paired
// difference with the first run. Pure.

import type { RunSize } from '../domain/rollout/rollout-summary.ts';
import { type ComparedRun, type Comparison, comparison } from './comparison.ts';
import type { Estimate } from './estimate.ts';
import { headlineOfRollouts } from './headline.ts';

export interface AtTurn {
  readonly accuracy: Estimate;
  /** Null for the first run. */
  readonly against: Pick<Comparison, 'atTurn' | 'difference' | 'signTest' | 'table'> | null;
}

/** Each run at turn 1 and at the last turn; once where that is the same turn. */
export function sideBySide(
  runs: readonly (ComparedRun & { readonly shape: RunSize })[],
): readonly (readonly AtTurn[])[] {
  const numTurns = Math.min(...runs.map(({ shape }) => shape.numTurns));
  const [first] = runs;
  return runs.map((run) => {
    const { first: atFirst, any } = headlineOfRollouts(run.rollouts, run.shape, numTurns);
    return [...new Set([1, numTurns])].map((atTurn) => ({
      accuracy: atTurn === numTurns ? any : atFirst,
      against: run === first ? null : shortly(comparison(first!, run, { atTurn })),
    }));
  });
}

/** `everturn compare a b` has every pair. */
function shortly({ difference, signTest, table, atTurn }: Comparison): AtTurn['against'] {
  return { atTurn, difference, signTest, table };
}
