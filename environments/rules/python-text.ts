// Texts as Python's `str` and `re` see them, on which the published rules rest: blanks, words, cases. Each takes time linear in the
// text, whatever it holds.

import { escapeRegExp } from '../../domain/text/thoughts.ts';

/** `\s` of Python, without brackets. */
export const BLANK = String.raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
/** `\w` of Python, without brackets: marks are no part of a word. */
const WORD = String.raw`\p{L}\p{N}_`;

const IS_BLANK = new RegExp(`[${BLANK}]`);

export const isBlank = (text: string): boolean => strip(text) === '';

/** Without these characters at its ends; without blanks if none are named. */
export function strip(text: string, characters?: string, ends: 'both' | 'start' | 'end' = 'both'): string {
  const goes = (char: string) => (characters === undefined ? IS_BLANK.test(char) : characters.includes(char));
  let [from, to] = [0, text.length];
  if (ends !== 'end') while (from < to && goes(text[from]!)) from++;
  if (ends !== 'start') while (to > from && goes(text[to - 1]!)) to--;
  return text.slice(from, to);
}

export const words = (text: string): string[] => text.match(new RegExp(`[${WORD}]+`, 'gu')) ?? [];

export const splitAtBlanks = (text: string): string[] =>
  text.split(new RegExp(`[${BLANK}]+`)).filter((part) => part !== '');

/** How often it stands there, in any case of letters. Authors search it as a regular expression; here it is a text. */
export const occurrences = (keyword: string, text: string): number =>
  [...text.matchAll(new RegExp(escapeRegExp(keyword), 'giu'))].length;

/** `\b` of Python. */
const EDGE = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
export const hasWord = (word: string, text: string): boolean =>
  new RegExp(`${EDGE}${escapeRegExp(word)}${EDGE}`, 'iu').test(text);

export const isUpper = (text: string): boolean => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
export const isLower = (text: string): boolean => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
