// The last words of an agent's program: its answer, its reward, or both. Read from the last line of its standard output, or
// from what it posted to its endpoint.

import { isObject } from '../schema/fields.ts';
import { oneLine, short } from '../text/foreign-text.ts';
import type { JsonObject } from '../text/json.ts';
import { DoubtfulJson, strictJson } from '../text/json-text.ts';

export interface LastWords {
  /** The answer that is judged. */
  readonly answer?: string;
  readonly reward?: number;
  /** Parts of the reward, by name. */
  readonly rewards?: Readonly<Record<string, number>>;
}

const FORM = '{"answer": "text"}, {"reward": 0.5} or both, and "rewards": {"name": 0.5}';

const FIELDS: readonly string[] = ['answer', 'reward', 'rewards'];

/** The words, or what is wrong with them. */
export function parseLastWords(value: unknown): { readonly said: LastWords } | { readonly problem: string } {
  if (!isObject(value)) return { problem: `is no object: right would be ${FORM}` };
  const unknown = Object.keys(value).filter((field) => !FIELDS.includes(field));
  if (unknown.length > 0) return { problem: `has ${named(unknown)}: right would be ${FORM}` };
  const { reward, rewards } = value;
  const answer = value['answer'] ?? undefined;
  if (answer === undefined && reward === undefined)
    return { problem: `has neither answer nor reward: right would be ${FORM}` };
  if (!['undefined', 'string', 'number'].includes(typeof answer)) return { problem: 'has an answer that is no text' };
  if (Number.isInteger(answer) && !Number.isSafeInteger(answer))
    return { problem: 'has an answer with more digits than a number keeps: write it as a text' };
  const flaw = reward === undefined ? undefined : flawOfReward(reward);
  if (flaw !== undefined) return { problem: `has a reward that is ${flaw}` };
  if (rewards !== undefined && reward === undefined)
    return { problem: 'has rewards, and no reward of which they are parts' };
  const parts = rewards === undefined ? {} : rewards;
  if (!isObject(parts)) return { problem: 'has rewards that are no object of numbers by name' };
  const flawOfPart = flawOfParts(parts);
  if (flawOfPart !== undefined) return { problem: `has ${flawOfPart}` };
  return {
    said: {
      ...(answer !== undefined && { answer: String(answer).toWellFormed() }),
      ...(reward !== undefined && { reward: reward as number }),
      ...(Object.keys(parts).length > 0 && { rewards: parts as Readonly<Record<string, number>> }),
    },
  };
}

export interface CallReward {
  /** An id of its reply, or `last`. */
  readonly call: string;
  readonly reward: number;
}

const CALL_FORM = '{"call": "the id of a reply, or last", "reward": 0.5}';

/** The reward of one call, or what is wrong with it; undefined if it is of no call. */
export function parseCallReward(value: unknown): CallReward | { readonly problem: string } | undefined {
  if (!isObject(value) || !Object.hasOwn(value, 'call')) return undefined;
  const unknown = Object.keys(value).filter((field) => field !== 'call' && field !== 'reward');
  if (unknown.length > 0) return { problem: `has ${named(unknown)}: right would be ${CALL_FORM}` };
  const { call, reward } = value;
  if (typeof call !== 'string' || call === '')
    return { problem: `has a call that is no text: right would be ${CALL_FORM}` };
  const flaw = flawOfReward(reward);
  if (flaw !== undefined) return { problem: `has a reward that is ${flaw}: right would be ${CALL_FORM}` };
  return { call, reward: reward as number };
}

/** What is wrong with it: trainers hold it as a float32. */
export function flawOfReward(value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'no finite number';
  return Number.isFinite(Math.fround(value)) ? undefined : 'beyond 3.4e38, where float32 ends';
}

const MOST_PARTS = 100;
const NAME_CHARS = 100;

function flawOfParts(parts: Readonly<Record<string, unknown>>): string | undefined {
  const names = Object.keys(parts);
  if (names.length > MOST_PARTS) return `${names.length} rewards by name, and ${MOST_PARTS} are the most`;
  for (const name of names) {
    const flaw = flawOfReward(parts[name]);
    if (name.trim() === '' || name.length > NAME_CHARS || oneLine(name) !== name)
      return `rewards with the name ${JSON.stringify(short(name, 40))}: right would be 1 to ${NAME_CHARS} characters, none of them a control character`;
    if (flaw !== undefined) return `rewards of which ${JSON.stringify(short(name, 40))} is ${flaw}`;
  }
  return undefined;
}

const NAMED_FIELDS = 5;

function named(fields: readonly string[]): string {
  const names = fields.slice(0, NAMED_FIELDS).map((field) => JSON.stringify(short(field, 40)));
  const more = fields.length > NAMED_FIELDS ? ` and ${fields.length - NAMED_FIELDS} more` : '';
  return `${fields.length === 1 ? 'the unknown field' : 'the unknown fields'} ${names.join(', ')}${more}`;
}

/** All that was said: a later reward is another one, and the parts of the earlier one are none of its. */
export function joinLastWords(
  before: LastWords | undefined,
  { answer = before?.answer, ...later }: LastWords,
): LastWords {
  const { reward, rewards } = later.reward === undefined ? (before ?? {}) : later;
  return {
    ...(answer !== undefined && { answer }),
    ...(reward !== undefined && { reward }),
    ...(rewards && { rewards }),
  };
}

const LAST_WORDS = /^\{.*"(?:answer|rewards?)"\s*:/;

/** The words in a line of output, or what is wrong with them; undefined for any other line, also one of a log in JSON. */
export function lastWordsInLine(line: string): ReturnType<typeof parseLastWords> | undefined {
  if (!LAST_WORDS.test(line)) return undefined;
  try {
    const value = JSON.parse(line) as JsonObject;
    return FIELDS.some((field) => Object.hasOwn(value, field)) ? parseLastWords(strictJson(line)) : undefined;
  } catch (error) {
    if (error instanceof DoubtfulJson) return { problem: error.message };
    return { problem: `is no JSON (NaN and Infinity are none): right would be ${FORM}` };
  }
}
