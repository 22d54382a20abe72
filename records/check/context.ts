// Proves the contexts and answers of a rollout: each context follows from its question or its verdict, and each text
// from its ids. Uses the model's own tokenizer if available; otherwise properties that every tokenizer preserves.

import type { CheckTokenizer } from './checked.ts';
import { explain } from '../../domain/errors/errors.ts';
import { FEEDBACK_RIGHT, FEEDBACK_WRONG } from '../../domain/context/feedback.ts';
import { type EarlierTurn, newContext } from '../../domain/context/new-context.ts';
import { tokenStarts } from '../../domain/rollout/credit.ts';
import { differences } from './differences.ts';
import { questionOf } from '../../domain/query/query.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

/** By the model's own tokenizer: each text and its ids, and the end of the answer. */
export async function exactProblems(
  rollout: RolloutRecord,
  before: EarlierTurn | null | undefined,
  turn: TurnRecord,
  tokenizer: CheckTokenizer,
): Promise<string[]> {
  const { outputIds, finish, contextText, contextIds } = turn;
  const text = (ids: readonly number[], skipSpecialTokens: boolean) => tokenizer.decode(ids, { skipSpecialTokens });
  const [outputText, answer] = await Promise.all([text(outputIds, false), text(outputIds, true)]);
  const problems: string[] = [];
  let context = { text: contextText, ids: contextIds };
  try {
    if (before !== undefined)
      context = await newContext(rollout, before, { tokenizer, facts: { name: tokenizer.name } });
  } catch (error) {
    problems.push(`has a context that ${tokenizer.name} cannot make: ${explain(error)}`);
  }
  // Such a template contains today's date.
  const isDated = /strftime_now|date_string/.test(tokenizer.chatTemplate() ?? '');
  const right = {
    contextText: isDated ? contextText : context.text,
    contextIds: context.text === contextText ? context.ids : contextIds,
    outputText,
    answer,
    ...(turn.tokenStarts &&
      answer === turn.answer && { tokenStarts: await tokenStarts(turn, (ids) => text(ids, true)) }),
  };
  problems.push(...differences(turn, right, `its rollout and ${tokenizer.name} give`));
  const stops = tokenizer.stopTokenIds;
  const middle = outputIds.findIndex((id, i) => i < outputIds.length - 1 && stops.includes(id));
  if (middle >= 0) problems.push(`has the stop token ${outputIds[middle]} at place ${middle + 1}, before its end`);
  const last = outputIds.at(-1);
  // A server may know more stop ids than the tokenizer does: all of them are special tokens.
  if (
    finish === 'stop' &&
    turn.reply?.stopped === undefined &&
    last !== undefined &&
    !stops.includes(last) &&
    (await text([last], true)) !== ''
  )
    problems.push(
      `ends by stop, and its last token ${last} (${JSON.stringify(await text([last], false))}) stops nothing`,
    );
  return problems;
}

/** By properties that every tokenizer preserves. `before`: the previous turn and its verdict; null at turn 1, undefined if unknown. */
export function* shownProblems(
  { query, settings }: RolloutRecord,
  before: EarlierTurn | null | undefined,
  turn: TurnRecord,
): Generator<string> {
  const { contextText: text } = turn;
  if (before === undefined) return;
  const { verdict, said } = before ?? {};
  if (!verdict) {
    if (query.prompt.kind === 'messages') yield* missing(text, questionOf(query), 'the question');
    else yield* differences({ contextText: text }, { contextText: query.prompt.text }, 'the prompt says');
  } else if (verdict.messages) {
    for (const { content } of verdict.messages) yield* missing(text, content, 'what the environment said');
  } else {
    const isRight = verdict.verdict === 'right';
    const [shown, other] = isRight ? [FEEDBACK_RIGHT, FEEDBACK_WRONG] : [FEEDBACK_WRONG, FEEDBACK_RIGHT];
    // A person may write either sentence.
    if (!text.includes(shown) || (said === undefined && text.includes(other)))
      yield `does not tell the model that turn ${turn.turn - 1} was ${verdict.verdict}`;
    if (settings.feedback === 'seed' && !text.startsWith('\n'))
      yield 'does not begin its feedback with the line break that parts it from the answer';
  }
  if (said !== undefined) yield* missing(text, said, 'a person’s message');
}

/** Templates trim, indent and escape; the words of a message stay, in order. */
function* missing(text: string, message: string, what: string): Generator<string> {
  let at = 0;
  for (const [word] of message.matchAll(/[\p{L}\p{N}]+/gu)) {
    const found = text.indexOf(word, at);
    if (found < 0) return yield `does not show the model ${what}: ${JSON.stringify(word)} is not there`;
    at = found + word.length;
  }
}
