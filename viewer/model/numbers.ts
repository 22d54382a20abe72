// The statistics of a run from its rows: the same functions and definitions as `everturn stats`. Pure. Leaves out what
// needs every turn's record: majority votes and times by server.

import { type RolloutSummary, type RunShape, unsteered } from '../../domain/rollout/rollout-summary.ts';
import { statisticsOfTurn } from '../../statistics/by-turn.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { provisional, type Provisional } from '../../statistics/in-progress.ts';
import type { Interval } from '../../statistics/mean.ts';
import { byQuery, hasEnded } from '../../statistics/outcomes.ts';
import { passesOf, runStatistics } from '../../statistics/run-statistics.ts';
import { latest, type Row } from './row.ts';

export interface Numbers {
  /** 95 % intervals by turn: of the accuracy, and of right by now. */
  readonly byTurn: readonly { readonly accuracy: Interval | null; readonly rightBy: Interval | null }[];
  /** With several samples of a query. */
  readonly passAtK: readonly Estimate[];
  /** Null for a run that has ended. */
  readonly provisional: Provisional | null;
}

export function summaries(rows: readonly Row[]): RolloutSummary[] {
  return latest(rows).map(
    ({ state, stop, reason, success, reward, endedAt, steered, index, query, sample, attempt }) => ({
      index,
      query,
      sample,
      attempt,
      outcome: state === 'open' ? null : state,
      stopReason: stop,
      failure: reason,
      success,
      returns: reward === null ? [] : [reward],
      turns: [],
      finishedAt: endedAt,
      ...(steered && { steered: 'message' as const }),
    }),
  );
}

/** In parts: of a long run each turn takes a quarter of a second. */
export function* numbersInParts(rows: readonly Row[], shape: RunShape): Generator<void, Numbers, void> {
  yield;
  const all = summaries(rows);
  yield;
  const own = unsteered(all);
  const groups = byQuery(own.filter(hasEnded));
  const played = own.reduce((most, { success }) => Math.max(most, success.length), 0);
  const several = shape.samples * shape.epochs > 1;
  const byTurn: Numbers['byTurn'][number][] = [];
  for (let turn = 1; turn <= played; turn++) {
    yield;
    const { accuracy, rightBy } = statisticsOfTurn(groups, turn);
    byTurn.push({ accuracy: accuracy.interval, rightBy: rightBy.interval });
  }
  yield;
  const inProgress = provisional(all, shape, shape.numTurns);
  yield;
  return {
    byTurn,
    passAtK: several ? passesOf(runStatistics(all, shape)) : [],
    provisional: inProgress,
  };
}
