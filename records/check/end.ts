// Proves a rollout's end: outcome, success, returns and failure follow from its turns, its verdicts and the settings; the rule
// that ended it is the first one that could; and no turn was played after it.

import { outcomeOf, scoredTurns, stopReason } from '../../domain/rollout/ending.ts';
import { boundaryOfReason } from '../../domain/errors/reasons.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { EndRecord, Failure, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { differences } from './differences.ts';
import type { CheckedRollout } from './checked.ts';

export function* endProblems({ rollout: { settings }, turns, verdicts, end }: CheckedRollout): Generator<string> {
  if (!end) return;
  const count = end.turns.length;
  const played = turns.slice(0, count);
  const said = verdicts.slice(0, count).flatMap((verdict) => verdict ?? []);
  const outcome = outcomeOf(end.stopReason);
  const messages = played.flatMap((turn) => (turn?.record.said ? [turn.record.turn] : []));
  const right = {
    outcome,
    failure: outcome === 'failed' ? end.failure && rightFailure(end.failure, count) : null,
    turns: played.map((turn, i) => turn?.hash ?? end.turns[i]),
    said: played.includes(undefined) ? end.said : unlessEmpty(messages),
    ...(said.length === count && scores(end, said, settings)),
  };
  yield* differences(end, right);
  if (outcome === 'failed' && !end.failure) yield 'says that it failed, and names no failure';
  if (outcome === 'complete' && count === 0) yield 'says complete, though no turn was played';
  if (said.length === count) yield* stopProblems(end, settings, said);
  if (end.stopReason === 'context-length') yield* roomProblems(turns[count - 1]?.record, settings);
}

const unlessEmpty = (list: readonly number[]): readonly number[] | undefined => (list.length > 0 ? list : undefined);

function scores({ stopReason: stop }: EndRecord, said: readonly VerdictRecord[], settings: RolloutSettings): object {
  const { success, turnRewards, returns, called } = scoredTurns(said, stop, settings);
  const complete = outcomeOf(stop) === 'complete';
  return { success, turnRewards, returns: complete ? returns : [], called: unlessEmpty(called) };
}

function rightFailure(failure: Failure, turns: number): Failure {
  const { boundary, reason } = failure;
  // An error of no known class has the name of its type, and is a fault of Everturn.
  const known = boundary === 'everturn' ? boundary : boundaryOfReason(reason);
  return { ...failure, boundary: known ?? boundary, turn: turns + 1 };
}

/** The rule that ends a rollout follows from its verdicts in order. */
function* stopProblems(end: EndRecord, settings: RolloutSettings, said: readonly VerdictRecord[]): Generator<string> {
  let answer = 0;
  for (const [i, { verdict, done }] of said.entries()) {
    const rule = verdict === 'called' ? undefined : stopReason(++answer, verdict, settings, done);
    const isLast = i + 1 === said.length;
    if (!isLast && rule) yield `goes on after turn ${i + 1}, which ends a rollout by ${rule}`;
    // A failure or a cancellation may come at any time.
    if (!isLast || rule === end.stopReason || end.outcome === 'failed' || end.outcome === 'cancelled') continue;
    if (rule) yield `says ${end.stopReason}; turn ${i + 1} ends it by ${rule}`;
    else if (end.stopReason !== 'context-length') yield `says ${end.stopReason}, and no rule ends it at turn ${i + 1}`;
  }
}

/** Longer than the feedback of any template. */
const FEEDBACK_TOKENS = 1000;

/** For an embedded model, whose context length cannot change: a budget shows the minimum length of its context. */
function* roomProblems(last: TurnRecord | undefined, { model }: RolloutSettings): Generator<string> {
  const embedded = /^(?:tiny$|scripted$|transformers:)/.test(model);
  if (!last || last.server !== null || !embedded) return;
  const left = last.maxNewTokens - last.outputIds.length;
  if (left > FEEDBACK_TOKENS) yield `says that no further turn fits; turn ${last.turn} left room for ${left} tokens`;
}
