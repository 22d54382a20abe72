// The data set's side: what a solution says, and whether the judge can use it. A solution that cannot be read or
// cannot be shown equal to itself judges by its spelling if it is well formed, and nobody if not. Pure.

import { standsForItself } from './compare/compare-texts.ts';
import { isSpelling } from './compare/spelled.ts';
import { findSolution } from './find/answer.ts';
import type { LeafOptions } from './compare/leaf.ts';
import { dateOf } from './read/moments.ts';
import { numberWord } from './read/number-words.ts';
import { isRelationSign, isWording, saysEverything, saysNothing, yesOrNo } from './read/words.ts';
import { LIMITS } from './base/limits.ts';
import { MANY, remembered } from './base/remembered.ts';
import { listedChoices, solutionChoice } from './read/choices.ts';
import { plainSigns } from './read/plain-signs.ts';
import { inOneWord } from './find/own-text.ts';

const DEFAULT_DECIMALS = 6;
/** The end of a question says what it asks for. */
const QUESTION_CHARS = 2_000;

export const leafOptions = ({ decimals, strict, question = '' }: JudgeOptions = {}): LeafOptions => ({
  decimals: decimals ?? DEFAULT_DECIMALS,
  decimalsGiven: decimals !== undefined,
  rename: strict === false,
  question: inOneWord(plainSigns(question.slice(-QUESTION_CHARS))),
  choices: listedChoices(question.slice(-LIMITS.textChars)),
});

/** Throws for what a caller got wrong: the texts may be any. */
export function mustBeAsked(
  answer: unknown,
  solutions: unknown,
  { decimals = 0, question = '' }: JudgeOptions = {},
): void {
  if ([answer, solutions, question].flat().some((text) => typeof text !== 'string'))
    throw new TypeError('The answer, each solution and the question is a text.');
  if (!Number.isSafeInteger(decimals) || decimals < 0) throw new RangeError('`decimals` is a whole number from 0 on.');
}

type Unusable = 'unreadable' | 'not-equal-to-itself' | 'too-big' | 'empty';
/** `inWords`: it is a name or a phrase, and only the same words are right. */
export type SolutionExam =
  { readonly usable: true; readonly inWords?: true } | { readonly usable: false; readonly reason: Unusable };

export interface Solution {
  readonly text: string;
  readonly bare?: string | undefined;
  /** It cannot be evaluated: only the same spelling is right. */
  readonly spelled?: true;
  /** It cannot be used. */
  readonly reason?: Unusable;
}

/** Can the judge read this solution, and does it judge it right against itself? */
export function examineSolution(text: string, options: JudgeOptions = {}): SolutionExam {
  const { reason, text: own } = readSolution(text, leafOptions(options));
  if (reason !== undefined) return { usable: false, reason };
  return { usable: true, ...(isInWords(own) && { inWords: true }) };
}

/** Not so: a choice, a date, and words that the judge understands, as `yes`, `no solution` and `twelve`. */
const isInWords = (text: string): boolean =>
  isWording(text) &&
  !solutionChoice(text) &&
  !yesOrNo(text) &&
  !saysNothing(text) &&
  !saysEverything(text) &&
  (numberWord(text) ?? dateOf(text)) === undefined;

export function readSolution(text: string, options: LeafOptions): Solution {
  const found = extracted(text);
  if (!found)
    return isSpelling(text) && !PROSE.test(text) ? { text: text.trim(), spelled: true } : { text, reason: 'empty' };
  // Decimals and names change what a pair is worth, not whether a text can be read; known choices do.
  const isPlain = !options.rename && !options.decimalsGiven && options.choices.length === 0;
  const own = isPlain ? standing(found.text) : standsForItself(found.text, options);
  if (own === 'spelled') return { text: found.text.trim(), spelled: true };
  return own === 'yes' ? found : { text, reason: own };
}

const PROSE = /(?<!\\)\b[A-Za-z]{2,}\s+[A-Za-z]{2,}\b/;
const PLAIN = leafOptions();
const standing = remembered((text: string) => standsForItself(text, PLAIN), MANY);
const extracted = remembered((text: string) => {
  const found = findSolution(text);
  if (found && isRelationSign(found.text)) return found;
  return !/[\p{L}\p{N}∅∞]|\\\{\s*\\\}/u.test(found?.text ?? '') ? undefined : found;
}, MANY);

export interface JudgeOptions {
  /** Decimal places, from 0 on, at which a decimal stands for an exact value; default 6. Given, decimals are rounded too. */
  readonly decimals?: number;
  /** False: letters may be renamed. Default true. */
  readonly strict?: boolean;
  /** The answer was cut by a limit of tokens: only a closed box or a complete named answer counts. Default false. */
  readonly cut?: boolean;
  /** The text of the question: the unit it asks for, the numbers it gives, the choices it lists. */
  readonly question?: string;
  /** Say also where the answer was found and with what it was compared. Default false. */
  readonly explain?: boolean;
}
