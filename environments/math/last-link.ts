// The last link of a chain in a formula whose first links cannot be compared with it as they stand: a function of words,
// "P(\text{at least one head}) = 1 - \frac18 = \frac78", or a unit that only later links have, "7 \times 50 = 350 \text{ cm} = 3.5 \text{ m}".
// Words have to be the question's, and links with units have to agree. Linear in the chain.

import { compareTexts } from './compare/compare-texts.ts';
import type { LeafOptions } from './compare/leaf.ts';
import { isPreposition, tokensOf } from './find/named.ts';
import { readQuestion } from './find/question.ts';

const TEXT = /\\(?:text|mathrm|textbf|mbox)\s*\{([^{}]*)\}/g;
const MOST_LINKS = 8;

/** Undefined where the text is no such chain, or its links contradict one another. */
export function lastLinkOf(text: string, options: LeafOptions): string | undefined {
  const links = text.split('=').map((link) => link.trim());
  if (
    links.length < 2 ||
    links.length > MOST_LINKS ||
    !text.includes('\\') ||
    /[<>]|\\(?:[lg]eq?|neq?)(?![A-Za-z])/.test(text)
  )
    return undefined;
  const [first = '', ...rest] = links;
  const named = /^[A-Za-z]\w*\s*(?:\\left)?\((.*)\)$/.exec(first)?.[1];
  if (named !== undefined) return isAsked(named, options.question) ? rest.at(-1) : undefined;
  const measured = rest.findIndex((link) => link.search(TEXT) >= 0);
  if (measured < 0 || first.search(TEXT) >= 0) return undefined;
  const plain = { ...options, question: '' };
  const agree = (one: string, other: string): boolean => compareTexts(one, other, plain).verdict === 'right';
  const joined = rest[measured]!.replace(TEXT, '');
  const holds =
    [first, ...rest.slice(0, measured)].every((link) => agree(joined, link)) &&
    rest.slice(measured + 1).every((link, k) => agree(rest[measured + k]!, link));
  return holds ? rest.at(-1) : undefined;
}

/** A phrase of the asked clause, from its beginning: "one head" is no part of "at least one head". */
function isAsked(named: string, question: string): boolean {
  const words = [...named.matchAll(TEXT)].flatMap(([, said = '']) => tokensOf(said).map(({ word }) => word));
  if (words.length === 0 || question === '') return false;
  const { clause } = readQuestion(question);
  return clause.some((_, k) => {
    const before = clause[k - 1];
    const opens = before === undefined || /^(?:the|an?|that)$|ing$/.test(before.written) || isPreposition(before.word);
    return opens && words.every((word, n) => clause[k + n]?.word === word);
  });
}
