// The budget of new tokens that fits, read out of a server's refusal of a larger one: what its context leaves, or its own
// limit of an answer. Each server has a wording of its own; one that is not known here halves the budget until it is taken.

import { ModelError } from '../domain/errors/errors.ts';

/** `most`: new tokens that fit, below those that were asked for; 0: the context alone does not fit. `own`: of every answer. */
export interface Room {
  readonly most: number;
  readonly own: boolean;
}

const BUDGET =
  /max_?\w*tokens|max(?:imum)? (?:number of )?(?:\w+ )?tokens|(?:completion|output|new|generated) tokens|num_predict/i;
const CONTEXT =
  /context|(?:model|sequence|total|maximum) (?:token )?(?:length|limit)|max(?:imum)?[_ ]?(?:model|seq|session)[_ ]?len|too many tokens|(?:prompt|input) is too long/i;

/** What the context leaves, as vLLM computes it. */
const NONE_LEFT = /must be at least 1, got (?:0|-\d+)/;

/** Each finds the number of tokens in the context. */
const GIVEN: readonly RegExp[] = [
  /(\d+) \+ \d+ > \d+/,
  /\d+ > \d+ - (\d+)/,
  /(\d+) (?:tokens? )?(?:in|from) (?:the|your) (?:input|prompt|messages?|context)/i,
  /(\d+) `?(?:input|prompt|context)s?`? tokens/i,
  /(?:prompt|input|messages?|conversation)\b[^.\d]{0,40}?(\d+) tokens/i,
  /(?:input|prompt) \(?(?:tokens|length)\D{0,6}(\d+)/i,
  /(?:prompt|input) is too long: (\d+)/i,
];
/** vLLM reads no more of a text than would leave room for the budget, and says how much it read. */
const AT_LEAST = /at least \d+ (?:input|prompt) tokens/i;
/** Finds the number of tokens in the context, or with the new ones. */
const GIVEN_OR_ALL = /\brequest(?:ed)?\b[^.\d]{0,40}?(\d+) tokens/i;
/** Each finds the number that context and answer may have together. */
const WHOLE: readonly RegExp[] = [
  /\d+ \+ \d+ > (\d+)/,
  /\d+ > (\d+) - \d+/,
  /(\d+)(?: tokens?)? (?:maximum )?context/i,
  /(?:context|model|sequence|session)(?:s)?(?: token)? (?:length|window|size|limit|len)\b[^.\d]{0,40}?(\d+)/i,
  /\+ \w*tokens? must be (?:<=|≤|less than or equal to|at most) (\d+)/i,
  /> (\d+) maximum/,
];
/** Each finds the limit of an answer. */
const OWN: readonly RegExp[] = [
  /(?:<=|≤|(?:less|lower|smaller) than or equal to|at most|up to|(?:not |cannot |can't )exceed|(?:no|cannot be|must not be) (?:more|greater|larger) than|maximum of|limit of|limit is|limited to)\D{0,40}?(\d+)/i,
  /\d+ > (\d+), which is the max/i,
  /(?:range|between|in)\D{0,40}?[[(]?\d+(?: \(inclusive\))?(?:,| and|-| to|\.\.) *(\d+)(?!\d| \(exclusive)/i,
  /max(?:imum)?(?: allowed)?(?: value| number)?(?: of output tokens)?(?: is|:| for| =)\D{0,40}?(\d+)/i,
];
/** Finds the first number that is too many. */
const BELOW = /(?:<|(?:less|lower|smaller) than|below|range\D+\d+ \(inclusive\) to)\D{0,10}?(\d+)/i;

/** The server's words, where it refused a request for what is in it; null: it failed otherwise. */
export function refusalIn(error: unknown): { readonly words: string; readonly reason: string } | null {
  if (!(error instanceof ModelError) || !BUDGET_REFUSALS.has(error.reason)) return null;
  return { words: error.message.replace(/^.*? answered \d+:? ?/, ''), reason: error.reason };
}

const BUDGET_REFUSALS: ReadonlySet<string> = new Set(['request-refused', 'context-length']);

/**
 * Undefined: the refusal is about something else, or says no number that is known here. `context`: its tokens, where they
 * are known.
 */
export function roomIn(words: string, asked: number, context?: number): Room | undefined {
  if (!isOfBudget(words)) return undefined;
  if (NONE_LEFT.test(words)) return { most: 0, own: false };
  const plain = words.replace(/(\d)[,_](?=\d{3}(?!\d))/g, '$1').replaceAll(/["'`]/g, '');
  const whole = found(plain, WHOLE);
  const counted = AT_LEAST.test(plain) ? undefined : found(plain, GIVEN);
  // A server may count more than was sent.
  const given = largest(counted, context) ?? givenOf(found(plain, [GIVEN_OR_ALL]), asked);
  if (whole !== undefined && given !== undefined && whole - given < asked)
    return { most: Math.max(0, whole - given), own: false };
  if (!BUDGET.test(words) || (given !== undefined && context === undefined)) return undefined;
  const below = found(plain, [BELOW]);
  const own = found(plain, OWN) ?? (below === undefined ? undefined : below - 1);
  return own !== undefined && own > 0 && own < asked ? { most: own, own: true } : undefined;
}

/** Half of what was asked for, where the refusal is of a budget and says no number that is known here. */
export function halfRoom(words: string, asked: number): Room | undefined {
  return isOfBudget(words) ? { most: Math.floor(asked / 2), own: !CONTEXT.test(words) } : undefined;
}

const largest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

const isOfBudget = (words: string): boolean => BUDGET.test(words) || CONTEXT.test(words);

function found(words: string, patterns: readonly RegExp[]): number | undefined {
  for (const pattern of patterns) {
    const digits = pattern.exec(words)?.[1];
    if (digits !== undefined) return Number(digits);
  }
  return undefined;
}

/** A number above the budget may hold it: if it does not, the next refusal says so of a smaller budget. */
const givenOf = (number: number | undefined, asked: number): number | undefined =>
  number !== undefined && number > asked ? number - asked : number;
