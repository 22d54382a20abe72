// The last words of an agent's program: its answer, its reward, or both. Read from the last line of its standard output, or
// from what it posted to its endpoint.

import { isObject } from '../schema/fields.ts';
import { short } from '../text/foreign-text.ts';
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
  if (reward !== undefined && !isNumber(reward)) return { problem: 'has a reward that is no finite number' };
  if (rewards !== undefined && reward === undefined)
    return { problem: 'has rewards, and no reward of which they are parts' };
  const parts = rewards === undefined ? {} : rewards;
  if (!isObject(parts) || !Object.values(parts).every(isNumber))
    return { problem: 'has rewards that are no object of finite numbers' };
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
  if (!isNumber(reward)) return { problem: `has a reward that is no finite number: right would be ${CALL_FORM}` };
  return { call, reward };
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(Math.fround(value));

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
