// Proves an answer by itself and against its rollout's settings: logprobs that a model can give, spans that cover its tokens, and
// a finish reason and a length that its budget allows.

import { LEAST_LOGPROB, logprobsServe, MOST_LOGPROB } from '../../domain/rollout/logprob-meaning.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import { fallingVersions, type IsOlder } from '../../domain/weights/weight-version.ts';
import { concatenated } from '../../domain/rollout/turn-facts.ts';
import { differences } from './differences.ts';
import { keptBegins, keptProblems } from './kept.ts';
import type { CheckedRollout, Problem } from './checked.ts';
import { fileOf } from '../format/rollout-file.ts';

const isLogprob = (value: number) => value <= MOST_LOGPROB && value >= LEAST_LOGPROB;

/** Ids and logprobs of an answer, or of a chunk of one. */
export function* answerProblems(record: ChunkRecord | TurnRecord, isOlder?: IsOlder): Generator<string> {
  const { outputIds, logprobs, versions, startedAt, finishedAt } = record;
  if (logprobs.length !== outputIds.length)
    yield `has ${logprobs.length} logprobs for ${outputIds.length} output tokens`;
  const odd = logprobs.findIndex((value) => !isLogprob(value));
  if (odd >= 0) yield `has the logprob ${logprobs[odd]} at output token ${odd + 1}: no model gives it`;
  let at = 0;
  const contiguous = versions.every(({ start, end }) => {
    const fits = start === at && end >= start;
    at = end;
    return fits;
  });
  if (!contiguous || at !== outputIds.length) yield 'has version spans that do not cover its output';
  const back = fallingVersions(versions, isOlder);
  if (back) yield `has versions that go back within one answer: ${back}`;
  if (finishedAt < startedAt) yield `ends at ${finishedAt}, before its start at ${startedAt}`;
}

/** The problems of a whole answer, under its rollout's settings. */
export function* turnProblems(record: TurnRecord, settings: RolloutSettings): Generator<string> {
  const { outputIds, maxNewTokens } = record;
  if (outputIds.length > maxNewTokens)
    yield `has ${outputIds.length} output tokens, more than its budget of ${maxNewTokens}`;
  if (maxNewTokens > settings.maxNewTokens)
    yield `has a budget of ${maxNewTokens} new tokens; its rollout allows ${settings.maxNewTokens}`;
  yield* record.trainable === false ? textProblems(record) : idProblems(record, settings);
}

/** For an answer with token ids. */
function* idProblems(record: TurnRecord, settings: RolloutSettings): Generator<string> {
  const { outputIds, contextIds, maxNewTokens, finish, logprobsFound: found, textLogprobs, usage, reasoning } = record;
  yield* keptProblems(record, settings);
  if (contextIds.length === 0) yield 'adds no token to its context, and is marked trainable';
  // An interrupted answer is continued until its budget is used up.
  else if (finish !== 'stop' && outputIds.length < maxNewTokens)
    yield `ends by ${finish} after ${outputIds.length} tokens of a budget of ${maxNewTokens}`;
  if (found !== undefined && !logprobsServe(found, settings.logprobs, settings, 0))
    yield `says that its model gives ${found} logprobs, which its rollout does not accept`;
  if (textLogprobs !== undefined) yield 'has logprobs of a text as well as ids';
  if (usage !== undefined || reasoning !== undefined) yield 'has the counts or thoughts of a text as well as ids';
  if (settings.model.startsWith('openai:'))
    yield 'is said to be one to train on, and came from a server that gives text only';
}

/** For an answer as text only. */
function* textProblems({ outputIds, logprobs, kept, contextIds, textLogprobs }: TurnRecord): Generator<string> {
  if (outputIds.length + logprobs.length + contextIds.length > 0)
    yield 'has token ids or logprobs, and is said to be text only';
  if (kept !== undefined) yield 'has kept sets, and is said to be text only';
  const odd = textLogprobs?.find(({ logprob }) => !isLogprob(logprob));
  if (odd) yield `has the logprob ${odd.logprob} of a token of its text: no model gives it`;
}

export function* chunkProblems({ rollout: { settings }, turns, chunks, files }: CheckedRollout): Generator<Problem> {
  const places = files.flatMap((file) => (file.kind === 'chunk' ? [file] : []));
  for (const turn of new Set(places.map((place) => place.turn))) {
    const numbers = places.filter((place) => place.turn === turn).map(({ chunk }) => chunk);
    const last = Math.max(...numbers);
    const whole = turns[turn - 1]?.record;
    if (turn > turns.length + 1)
      yield [fileOf('chunk', turn, last), `is part of turn ${turn}, and turn ${turns.length} is the last`];
    const before: ChunkRecord[] = [];
    for (let chunk = 1; chunk <= last; chunk++) {
      const file = fileOf('chunk', turn, chunk);
      const found = chunks.get(file)?.record;
      if (!found) {
        if (!whole && turn > turns.length && !numbers.includes(chunk))
          yield [file, `is missing, though part ${last} is there`];
        break;
      }
      before.push(found);
      const own = [...answerProblems(found), ...keptProblems(found, settings)];
      for (const problem of [...own, ...differences(found, { turn, chunk })]) yield [file, problem];
      if (found.finish === 'stop') yield [file, 'ends by stop, and was kept as a part that is not the last'];
      if (whole?.attempt === found.attempt && !begins(whole, before))
        yield [file, `is not what ${fileOf('turn', turn)} begins with`];
    }
  }
}

function begins(turn: TurnRecord, parts: readonly ChunkRecord[]): boolean {
  const same = (whole: readonly number[], part: readonly number[]) => part.every((value, i) => whole[i] === value);
  return (
    same(turn.outputIds, concatenated(...parts.map(({ outputIds }) => outputIds))) &&
    same(turn.logprobs, concatenated(...parts.map(({ logprobs }) => logprobs))) &&
    keptBegins(turn, parts)
  );
}
