// Proves the order of a rollout's turns: each was begun after the one that it extends was finished, as far as workers' clocks
// agree, and none was played after the end.

import { turnFile } from '../format/layout.ts';
import type { CheckedRollout, Problem } from './checked.ts';

/** Clocks synchronised over a network differ by less. */
export const CLOCK_SKEW_MS = 5000;

export function* timeProblems({ turns, end }: CheckedRollout, skewMs: number): Generator<Problem> {
  for (const [i, turn] of turns.entries()) {
    const { asked, carried, startedAt } = turn?.record ?? {};
    // An agent's calls may be made side by side.
    const parent = asked ? asked.parent : i;
    const before = parent === null ? undefined : turns[parent - 1]?.record;
    // The times of what was carried over from another run are that run's.
    if (startedAt === undefined || carried || !before || before.carried) continue;
    const late = before.finishedAt - startedAt;
    if (late > skewMs)
      yield [
        turnFile(i + 1),
        `was begun at ${startedAt}, ${late} ms before turn ${parent} was finished at ${before.finishedAt}`,
      ];
  }
  if (!end) return;
  // A terminated workflow leaves turns behind; a restarted one may end before it reaches them.
  const broken = end.outcome === 'failed' || end.outcome === 'cancelled';
  for (let i = end.turns.length + (broken ? 1 : 0); i < turns.length; i++) {
    const left = turns[i]?.record;
    if (!(broken && left && left.startedAt < end.finishedAt))
      yield [turnFile(i + 1), `was played after the end at turn ${end.turns.length}`];
  }
}
