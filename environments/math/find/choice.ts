// The letter of a choice in running text, where the solution is one and the answer marks none: the letter that opens the text
// ("C. The moon"), else the last one of its last line. The question says which choices there are.

import { ownText } from './own-text.ts';

const LINE_CHARS = 400;
const OPENING = /^\s*\**\(?([A-J])\)?(?:[.):]\**(?:\s|$)|\**\s*(?:\n|$))/;
/** "A" and "I" are words as well, where a small letter follows. */
const LETTER = /(?<![A-Za-z0-9$\\_^{=+*/-])(?:\(([A-J])\)|([B-HJ])|([AI])(?!\*{0,2} [a-z]))(?=[.,:;!?*\s]|$)/g;

/** "not B", "A or B", "A, B" name none. */
const NOT_ONE = /\bnot\s+\**$|(?<![A-Za-z])\(?[A-J]\)?\s*(?:,|\/|&|,?\s*(?:or|and))\s*\**$/i;

export function findChoice(source: string): string | undefined {
  const text = ownText(source, false)?.trim() ?? '';
  const opening = OPENING.exec(text)?.[1];
  if (opening !== undefined) return opening;
  const line = text.slice(text.lastIndexOf('\n') + 1).slice(-LINE_CHARS);
  const last = [...line.matchAll(LETTER)].at(-1);
  return last && !NOT_ONE.test(line.slice(0, last.index)) ? (last[1] ?? last[2] ?? last[3]) : undefined;
}

/** Does the question list choices by small letters, as MathQA does: "a ) 800 , b ) 820 , c ) 840"? */
export function listsSmallChoices(question: string): boolean {
  let next = 0;
  for (const [, letter] of question.matchAll(/(?:^|[\s(])([a-c]) ?\)/g)) if (letter === 'abc'[next]) next++;
  return next === 3;
}

/** `c` and `c) 840` as a choice. */
export const inCapitals = (text: string): string =>
  text.replace(
    /^(\s*\(?)([a-j])(?=\s*(?:\)|[.:]?\s*$))/,
    (_, before: string, letter: string) => before + letter.toUpperCase(),
  );

/** Does the question list these words under this letter: "(C) both A and B", "C. Canberra"? */
export function isListed(letter: string, words: string, question: string): boolean {
  const [listed, own] = [squeezed(question), squeezed(words).replace(/\.$/, '')];
  return own !== '' && [')', '.', ':'].some((mark) => listed.includes(`${letter.toLowerCase()}${mark}${own}`));
}

/** The letter of a marked answer with its words: "C, Canberra", "C - Canberra". */
export const letterOf = (text: string): string | undefined =>
  /^[\s*(["']*([A-J])[)\]"']?\s?(?:[,–—-]\s(?!\(?[A-J]\b)|$)/.exec(text)?.[1];

const squeezed = (text: string): string => text.replace(/[\s${}~]|\\(?:text|mathrm|[,;:! ])|\*\*/g, '').toLowerCase();
