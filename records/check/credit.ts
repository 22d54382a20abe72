// Proves what an environment said of parts of an answer: it may speak of them, its spans lie within the answer, their rewards
// add up to the turn's, and each token of the answer has its place in the text.

import { codePoints, flawOfSpans, takesCredit, withSpans } from '../../domain/rollout/credit.ts';
import type { RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import { answerToJudge } from '../../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

export function* startsProblems(rollout: RolloutRecord, turn: TurnRecord): Generator<string> {
  const { tokenStarts: starts, outputIds, trainable } = turn;
  const mayHave = takesCredit(rollout) && trainable !== false;
  if ((starts !== undefined) !== mayHave && !turn.carried)
    yield mayHave
      ? 'says not where its tokens begin, and its environment speaks of parts of answers'
      : 'says where its tokens begin, and nobody speaks of parts of its answer';
  if (!starts) return;
  if (starts.length !== outputIds.length) yield `says where ${starts.length} of ${outputIds.length} tokens begin`;
  const length = codePoints(answerToJudge(turn));
  const odd = starts.findIndex((at, i) => at < (starts[i - 1] ?? 0) || at > length);
  if (odd >= 0) yield `has a token ${odd + 1} that begins at ${starts[odd]}, before the last one or behind the answer`;
}

export function* creditProblems(
  rollout: RolloutRecord,
  turn: TurnRecord,
  { credit, base, train, reward, rewards, verdict, carried }: VerdictRecord,
): Generator<string> {
  const said = credit !== undefined || train !== undefined || base !== undefined;
  if (said && !takesCredit(rollout) && !carried) yield 'speaks of parts of an answer, and its environment does not';
  const flaw = flawOfSpans(credit ?? [], codePoints(answerToJudge(turn)));
  if (flaw !== undefined) yield `has spans that are none of the answer: ${flaw}`;
  const isPlaced = verdict !== 'undecided' && credit?.some((span) => span.reward !== undefined) === true;
  if (isPlaced !== (base !== undefined)) yield `says base ${base}, with ${isPlaced ? '' : 'no '}rewards of spans`;
  if (base === undefined) return;
  const whole = withSpans(base, credit);
  if (reward !== whole) yield `says reward ${reward}; base and spans give ${whole}`;
  const named = rewards && Object.values(rewards).reduce((sum, value) => sum + value, 0);
  if (named !== undefined && named !== base) yield `says base ${base}; its named rewards give ${named}`;
}
