// Proves a rollout's times: it begins after its run, each turn after the one before, and its end comes last. Workers'
// clocks may differ by a given amount.

import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { END_FILE, ROLLOUT_FILE, turnFile, verdictFile } from '../record/layout.ts';

/** Clocks synchronised over a network differ by less. */
export const CLOCK_SKEW_MS = 5000;
/** The checking machine may be another than the workers'. */
const AHEAD_MS = 24 * 60 * 60 * 1000;

interface Played {
  readonly rollout: RolloutRecord;
  readonly turns: readonly (TurnRecord | undefined)[];
  readonly verdicts: readonly (VerdictRecord | undefined)[];
  readonly end: EndRecord | undefined;
}

/** `runAt`: the creation time of the run; undefined if unknown. */
export function timeProblems(
  { rollout, turns: all, verdicts, end }: Played,
  runAt: number | undefined,
  skewMs: number,
  say: (file: string, problem: string) => void,
): void {
  // The times of what was carried over from another run are that run's.
  const turns = all.map((turn) => (turn?.carried ? undefined : turn));
  let before = { at: runAt ?? 0, what: 'its run was made' };
  const next = (file: string, says: string, at: number, then: string) => {
    const late = before.at - at;
    if (late > skewMs) say(file, `${says} at ${at}, ${late} ms before ${before.what} at ${before.at}`);
    if (late <= 0) before = { at, what: then };
  };
  next(ROLLOUT_FILE, 'began', rollout.birthTime, 'its rollout began');
  turns.forEach((turn, i) => {
    if (!turn) return;
    next(turnFile(i + 1), 'was begun', turn.startedAt, `turn ${i + 1} was begun`);
    next(turnFile(i + 1), 'was finished', turn.finishedAt, `turn ${i + 1} was finished`);
    const [verdict, then] = [verdicts[i], turns[i + 1]?.startedAt ?? end?.finishedAt];
    // Turns beyond the end may be of an earlier execution of the rollout.
    if (!verdict || then === undefined || (end && i >= end.turns.length)) return;
    const room = then - turn.finishedAt;
    const took = longestOf(verdict);
    if (took > Math.max(0, room) + skewMs)
      say(verdictFile(i + 1), `took ${took} ms; ${room} ms passed until the rollout went on`);
  });
  // Turns that a terminated workflow left behind may be later than the end of the next one.
  if (end) {
    const last = turns[end.turns.length - 1];
    const from = last?.finishedAt ?? rollout.birthTime;
    if (from - end.finishedAt > skewMs)
      say(END_FILE, `ended at ${end.finishedAt}, ${from - end.finishedAt} ms before what it ends`);
  }
  const latest = Math.max(rollout.birthTime, end?.finishedAt ?? 0, ...turns.map((turn) => turn?.finishedAt ?? 0));
  if (latest > Date.now() + AHEAD_MS) say(ROLLOUT_FILE, `holds times that are still to come: ${latest}`);
}

/** Calls of tools may run at the same time. */
function longestOf({ verdict, tookMs, calls = [] }: VerdictRecord): number {
  return verdict === 'called' ? Math.max(0, ...calls.map(({ ms }) => ms ?? 0)) : tookMs;
}
