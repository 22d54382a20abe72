// Proves the contexts and answers of a rollout: each context follows from its question or its verdict, and each text
// from its ids. Uses the model's own tokenizer if available; otherwise properties that every tokenizer preserves.

import { explain } from '../../domain/errors/errors.ts';
import { FEEDBACK_RIGHT, FEEDBACK_WRONG } from '../../domain/rollout/conversation.ts';
import { type ContextTokenizer, type EarlierTurn, newContext } from '../../domain/rollout/new-context.ts';
import { questionOf } from '../../domain/run/query.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

/** The tokenizer of a run's model. */
export interface CheckTokenizer extends ContextTokenizer {
  /** Its path, for messages. */
  readonly name: string;
  /** All ids that end an answer. */
  readonly stopTokenIds: readonly number[];
}

/** The resources of the check of a run. */
export interface TextFacts {
  readonly tokenizer?: CheckTokenizer | undefined;
}

/** `before`: the previous turn and its verdict; null at turn 1, undefined if they cannot be read. */
export async function contextProblems(
  rollout: RolloutRecord,
  before: EarlierTurn | null | undefined,
  turn: TurnRecord,
  { tokenizer }: TextFacts,
): Promise<string[]> {
  const exact = tokenizer && turn.trainable !== false;
  const shown = before === undefined ? [] : shownProblems(rollout, before, turn);
  if (!exact || before === undefined) return shown;
  const made = await newContext(rollout, before, { tokenizer, facts: { name: tokenizer.name } }).catch(
    (error: unknown) => explain(error),
  );
  if (typeof made === 'string') return [...shown, `has a context that ${tokenizer.name} cannot make: ${made}`];
  // Such a template contains today's date.
  const dated = /strftime_now|date_string/.test(tokenizer.chatTemplate() ?? '');
  const what = before === null ? 'the question' : 'the verdict on the turn before';
  if (!dated && made.text !== turn.contextText)
    return [...shown, `shows the model another text than ${what} gives: ${difference(turn.contextText, made.text)}`];
  if (made.text !== turn.contextText) return shown;
  if (sameIds(made.ids, turn.contextIds)) return shown;
  return [
    ...shown,
    `has other context ids than ${tokenizer.name} makes of its text: ${firstIds(turn.contextIds, made.ids)}`,
  ];
}

function shownProblems({ query, settings }: RolloutRecord, before: EarlierTurn | null, turn: TurnRecord): string[] {
  const { contextText: text } = turn;
  if (before?.verdict.messages) {
    const shown = [...before.verdict.messages.map(({ content }) => content), before.said ?? ''];
    const missing = shown.map((content) => firstMissing(text, content)).find((word) => word !== undefined);
    return missing === undefined
      ? []
      : [`does not tell the model what the environment said: ${JSON.stringify(missing)}`];
  }
  if (before) {
    const { verdict, said } = before;
    const [shown, other] =
      verdict.verdict === 'right' ? [FEEDBACK_RIGHT, FEEDBACK_WRONG] : [FEEDBACK_WRONG, FEEDBACK_RIGHT];
    // A person may write either sentence.
    const says = text.includes(shown) && (said !== undefined || !text.includes(other));
    if (!says) return [`does not tell the model that turn ${turn.turn - 1} was ${verdict.verdict}`];
    if (settings.feedback === 'seed' && !text.startsWith('\n'))
      return ['does not begin its feedback with the line break that parts it from the answer'];
    const unsaid = said === undefined ? undefined : firstMissing(text, said);
    return unsaid === undefined
      ? []
      : [`does not show the model a person's message: ${JSON.stringify(unsaid)} is not there`];
  }
  if (query.prompt.kind === 'text')
    return text === query.prompt.text
      ? []
      : [`shows the model another text than the prompt: ${difference(text, query.prompt.text)}`];
  const missing = firstMissing(text, questionOf(query));
  return missing === undefined ? [] : [`does not show the model the question: ${JSON.stringify(missing)} is not there`];
}

/** Templates trim, indent and escape; the words of a message stay, in order. */
function firstMissing(text: string, question: string): string | undefined {
  let at = 0;
  for (const [word] of question.matchAll(/[\p{L}\p{N}]+/gu)) {
    const found = text.indexOf(word, at);
    if (found < 0) return word;
    at = found + word.length;
  }
  return undefined;
}

/** Of an answer: its texts against its ids, and its end. */
export async function answerTextProblems(turn: TurnRecord, { tokenizer }: TextFacts): Promise<string[]> {
  if (turn.trainable === false) return [];
  const { outputIds, outputText, answer, finish } = turn;
  if (!tokenizer) return isWithin(answer, outputText) ? [] : ['says an answer that its output text does not hold'];
  const problems: string[] = [];
  const text = (ids: readonly number[], skipSpecialTokens: boolean) => tokenizer.decode(ids, { skipSpecialTokens });
  const [whole, said] = await Promise.all([text(outputIds, false), text(outputIds, true)]);
  if (whole !== outputText) problems.push(`says another output text than its ids: ${difference(outputText, whole)}`);
  if (said !== answer) problems.push(`says another answer than its ids: ${difference(answer, said)}`);
  const stops = tokenizer.stopTokenIds;
  const middle = outputIds.findIndex((id, i) => i < outputIds.length - 1 && stops.includes(id));
  if (middle >= 0) problems.push(`has the stop token ${outputIds[middle]} at place ${middle + 1}, before its end`);
  const last = outputIds.at(-1);
  // A server may know more stop ids than the tokenizer does: all of them are special tokens.
  if (finish === 'stop' && last !== undefined && !stops.includes(last) && (await text([last], true)) !== '')
    problems.push(
      `ends by stop, and its last token ${last} (${JSON.stringify(await text([last], false))}) stops nothing`,
    );
  return problems;
}

/** An answer lacks only special tokens and spaces of its output text. A character that is cut may differ. */
function isWithin(answer: string, outputText: string): boolean {
  if (outputText.includes(answer)) return true;
  if (outputText.includes('\ufffd') || answer.includes('\ufffd')) return true;
  let at = 0;
  for (const char of answer.replace(/\s+/g, '')) {
    const found = outputText.indexOf(char, at);
    if (found < 0) return false;
    at = found + char.length;
  }
  return true;
}

function sameIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

function firstIds(is: readonly number[], right: readonly number[]): string {
  const i = right.findIndex((id, place) => is[place] !== id);
  const at = i < 0 ? right.length : i;
  return `at place ${at + 1} ${is[at] ?? 'nothing'}, not ${right[at] ?? 'nothing'}`;
}

/** Both texts from their first difference. */
function difference(is: string, right: string): string {
  let at = 0;
  while (at < is.length && is[at] === right[at]) at++;
  const part = (text: string) => JSON.stringify(text.slice(at, at + 40));
  return `${part(is)} at character ${at + 1}, not ${part(right)}`;
}
