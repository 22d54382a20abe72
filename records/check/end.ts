// Proves a rollout's end against its turns and verdicts: outcome, stop reason, success and rewards follow from them
// and from the settings, and there is no turn after the rules end the rollout.

import { isDeepStrictEqual } from 'node:util';
import { outcomeOf, scoredTurns, stopReason } from '../../domain/rollout/ending.ts';
import { boundaryOfReason } from '../../domain/errors/reasons.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { Stored } from '../store.ts';

export function endProblems(
  end: EndRecord,
  { settings }: RolloutRecord,
  turns: readonly (Stored<TurnRecord> | undefined)[],
  verdicts: readonly (VerdictRecord | undefined)[],
): string[] {
  const problems: string[] = [];
  const differs = (what: string, says: unknown, is: unknown) => {
    if (!isDeepStrictEqual(says, is))
      problems.push(`says ${what} ${JSON.stringify(says)}; the records say ${JSON.stringify(is)}`);
  };
  const count = end.turns.length;
  end.turns.forEach((hash, i) => {
    const turn = turns[i];
    if (i >= turns.length) problems.push(`names a turn ${i + 1} that is not there`);
    else if (turn && turn.hash !== hash) problems.push(`names another turn ${i + 1}: ${hash}, not ${turn.hash}`);
  });
  differs('outcome', end.outcome, outcomeOf(end.stopReason));
  const answered = turns.slice(0, count).flatMap((turn) => (turn?.record.said ? [turn.record.turn] : []));
  if (turns.slice(0, count).every((turn) => turn !== undefined))
    differs('turns with a person’s message', end.said ?? [], answered);
  const said = verdicts.slice(0, count);
  if (said.length === count && said.every((verdict) => verdict !== undefined)) {
    const { success, turnRewards, returns, called } = scoredTurns(said, end.stopReason, settings);
    differs('success', end.success, success);
    differs('turn rewards', end.turnRewards, turnRewards);
    differs('rewards', end.rewards, end.outcome === 'complete' ? returns : []);
    differs('turns that called tools', end.called ?? [], called);
    const undecided = said.map(({ verdict }) => verdict === 'undecided');
    if (end.outcome === 'complete' && undecided.includes(true))
      problems.push('says complete, though a turn is undecided');
    if (end.stopReason === 'success' && success.at(-1) !== 1)
      problems.push('says success, though the last turn is not right');
    if (end.stopReason === 'undecided' && undecided.at(-1) !== true)
      problems.push('says undecided, though the last turn is decided');
    problems.push(...stopProblems(end, settings, said));
  }
  if (end.outcome === 'complete' && count === 0) problems.push('says complete, though no turn was played');
  const answers = count - (end.called?.length ?? 0);
  if (answers > settings.numTurns)
    problems.push(`names ${answers} turns, more than the ${settings.numTurns} to be played`);
  if (end.stopReason === 'max-turns' && answers !== settings.numTurns) {
    problems.push(`says all turns were played: ${answers}, not ${settings.numTurns}`);
  }
  if ((end.failure !== null) !== (end.outcome === 'failed'))
    problems.push('names a failure without having failed, or the reverse');
  const { boundary, reason } = end.failure ?? {};
  // An error of no known class has the name of its type.
  const right = reason === undefined ? undefined : boundaryOfReason(reason);
  if (right && boundary && boundary !== right && boundary !== 'everturn')
    problems.push(`says that the failure ${reason} is of ${boundary}; it is one of ${right}`);
  if (end.failure && end.failure.turn !== count + 1)
    problems.push(`says that turn ${end.failure.turn} failed, after ${count} finished turns`);
  if (end.stopReason === 'context-length') problems.push(...roomProblems(turns[count - 1]?.record, settings));
  return problems;
}

/** The rule that ends a rollout follows from its verdicts in order. */
function stopProblems({ stopReason: says, turns }: EndRecord, settings: RolloutSettings, said: VerdictRecord[]) {
  const problems: string[] = [];
  let answer = 0;
  const rules = said.map(({ verdict, done }) =>
    verdict === 'called' ? undefined : stopReason(++answer, verdict, settings, done),
  );
  rules.forEach((rule, i) => {
    if (i + 1 < turns.length && rule && rule !== 'max-turns')
      problems.push(`goes on after turn ${i + 1}, which ends a rollout by ${rule}`);
  });
  const last = said.at(-1);
  const rule = rules.at(-1);
  // A failure or a cancellation may come at any time.
  if (last && rule !== says && outcomeOf(says) !== 'failed' && outcomeOf(says) !== 'cancelled') {
    if (rule) problems.push(`says ${says}; turn ${turns.length} ends it by ${rule}`);
    else if (says !== 'context-length') problems.push(`says ${says}, and no rule ends it at turn ${turns.length}`);
  }
  return problems;
}

/** Longer than the feedback of any template. */
const FEEDBACK_TOKENS = 1000;

/** For an embedded model, whose context length cannot change: a budget shows the minimum length of its context. */
function roomProblems(last: TurnRecord | undefined, { model }: RolloutSettings): string[] {
  const embedded = model === 'tiny' || model.startsWith('transformers:');
  if (!last || last.server !== null || !embedded || last.outputIds.length + FEEDBACK_TOKENS >= last.maxNewTokens)
    return [];
  const left = last.maxNewTokens - last.outputIds.length;
  return [`says that no further turn fits; turn ${last.turn} left room for ${left} tokens`];
}
