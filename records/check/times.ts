// Proves a rollout's times: it begins after its run, each turn after the one before, and its end comes last. Workers'
// clocks may differ by a given amount. A turn that was begun after the end was played in vain.

import { END_FILE, ROLLOUT_FILE, turnFile } from '../format/layout.ts';
import type { CheckedRollout, Problem } from './checked.ts';

/** Clocks synchronised over a network differ by less. */
export const CLOCK_SKEW_MS = 5000;

/** `runAt`: the creation time of the run; undefined if unknown. */
export function* timeProblems(
  { rollout, turns: all, end }: CheckedRollout,
  runAt: number | undefined,
  skewMs: number,
): Generator<Problem> {
  // The times of what was carried over from another run are that run's.
  const turns = all.map((turn) => (turn?.record.carried ? undefined : turn?.record));
  const begun = turns.flatMap((turn, i) => {
    if (!turn) return [];
    const file = turnFile(i + 1);
    return [
      { file, does: 'was begun', at: turn.startedAt, what: `turn ${i + 1} was begun` },
      { file, does: 'was finished', at: turn.finishedAt, what: `turn ${i + 1} was finished` },
    ];
  });
  const start = { at: runAt ?? 0, what: 'its run was made' };
  const steps = [{ file: ROLLOUT_FILE, does: 'began', at: rollout.birthTime, what: 'its rollout began' }, ...begun];
  yield* inOrder(start, turns.some((turn) => turn?.asked) ? steps.slice(0, 1) : steps, skewMs);
  // An agent's calls may be made side by side: each comes after the one that it extends.
  for (const turn of turns) {
    const parent = turn?.asked && (turn.asked.parent === null ? null : turns[turn.asked.parent - 1]);
    if (!turn || parent === undefined) continue;
    const since = parent ? `turn ${parent.turn} was finished` : 'its rollout began';
    const own = begun.filter(({ file }) => file === turnFile(turn.turn));
    yield* inOrder({ at: parent?.finishedAt ?? rollout.birthTime, what: since }, own, skewMs);
  }
  if (!end) return;
  const ended = turns[end.turns.length - 1]?.finishedAt ?? rollout.birthTime;
  if (ended - end.finishedAt > skewMs)
    yield [END_FILE, `ended at ${end.finishedAt}, ${ended - end.finishedAt} ms before what it ends`];
  // A terminated workflow leaves turns behind; a restarted one may end before it reaches them.
  const broken = end.outcome === 'failed' || end.outcome === 'cancelled';
  for (let i = end.turns.length + (broken ? 1 : 0); i < all.length; i++) {
    const left = all[i]?.record;
    if (!(broken && left && left.startedAt < end.finishedAt))
      yield [turnFile(i + 1), `was played after the end at turn ${end.turns.length}`];
  }
}

interface Step {
  readonly file: string;
  readonly does: string;
  readonly at: number;
  readonly what: string;
}

function* inOrder(start: Pick<Step, 'at' | 'what'>, steps: readonly Step[], skewMs: number): Generator<Problem> {
  let before = start;
  for (const step of steps) {
    const late = before.at - step.at;
    if (late > skewMs)
      yield [step.file, `${step.does} at ${step.at}, ${late} ms before ${before.what} at ${before.at}`];
    if (late <= 0) before = step;
  }
}
