// Compares a solution's final answer with an answer's, both as texts: choices, dates, words, then mathematics in each
// way that it may be read. Right needs a proof; everything else is wrong and says why.

import {
  answerChoice,
  type Choice,
  choicesSaid,
  lastLetter,
  LETTERS,
  namesOneChoice,
  placeOfWords,
  solutionChoice,
} from '../read/choices.ts';
import { children, type Node, some } from '../base/ast.ts';
import { compareAnswers } from './compare.ts';
import { familiesOf } from './families.ts';
import { newComparison } from '../value/comparison.ts';
import type { LeafOptions } from './leaf.ts';
import type { Sameness } from './sameness.ts';
import { isHedged, withoutHedges } from '../read/harmless-words.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { dateOf, sameMoment, timeOf } from '../read/moments.ts';
import { numberWord } from '../read/number-words.ts';
import { parseAnswer } from '../read/parse.ts';
import * as Q from '../base/rational.ts';
import { MANY, remembered } from '../base/remembered.ts';
import { respell } from '../read/spelling.ts';
import { isSpelling } from './spelled.ts';
import type { Commas } from '../read/tokens.ts';
import {
  isProse,
  isWording,
  plainWords,
  sameWords,
  undressed,
  saysEverything,
  saysNothing,
  yesOrNo,
} from '../read/words.ts';

export interface Outcome {
  readonly verdict: 'right' | 'wrong';
  readonly reason: string;
}
const RIGHT: Readonly<Partial<Record<string, string>>> = {
  exact: 'equal',
  form: 'equal-form',
  sampled: 'equal-sampled',
  rounded: 'equal-rounded',
  text: 'equal-text',
};
const wrong = (reason: string): Outcome => ({ verdict: 'wrong', reason });
const WRONG = wrong('different');
const EQUAL: Outcome = { verdict: 'right', reason: 'equal' };
const AS_WRITTEN: Outcome = { verdict: 'right', reason: 'equal-text' };

export function compareTexts(solution: string, said: string, options: LeafOptions): Outcome {
  // "About 5" bounds 5, unless the solution says so as well; a decimal was rounded.
  const isBound = isHedged(said) && !isHedged(solution) && !/\d\.\d/.test(said);
  if (isBound && /\d/.test(said)) return WRONG;
  const [gold, answer] = [withoutHedges(solution), isBound ? said : withoutHedges(said)];
  const written = asWritten(gold);
  if (written !== '' && written === asWritten(answer)) return AS_WRITTEN;
  if (Math.max(gold.length, answer.length) > LIMITS.candidateChars) return wrong('too-big');
  // `10–15` with a long dash is no difference.
  if (isRange(said) && !isRange(solution)) return WRONG;
  const several = choicesSaid(gold, options.choices.length);
  const own = several === undefined ? undefined : choicesSaid(answer, options.choices.length);
  if (own !== undefined || (several !== undefined && /\bor\b/.test(answer)))
    return own === several ? AS_WRITTEN : WRONG;
  const choice = solutionChoice(gold, options.choices.length);
  return choice ? compareChoices(choice, answer, options) : compareContents(gold, answer, options);
}

/** The letter decides, also before other words; before another value, or the words of another choice, it is no answer. */
function compareChoices(gold: Choice, answer: string, options: LeafOptions): Outcome {
  const { choices } = options;
  const place = LETTERS.indexOf(gold.letter);
  const said = answerChoice(answer, lastLetter(Math.max(choices.length, place + 1)));
  // A small letter may be the words of a choice.
  const words = said && /[A-Z]/.test(answer) ? -1 : placeOfWords(answer, choices);
  if (words >= 0) return words === place ? AS_WRITTEN : WRONG;
  if (!said) return compareContents(gold.rest || gold.letter, answer, options);
  if (gold.letter !== said.letter) return WRONG;
  const listed = placeOfWords(said.rest.replace(/^\((.*)\)$/, '$1'), choices);
  if (listed >= 0) return listed === place ? AS_WRITTEN : WRONG;
  if (!namesOneChoice(said)) return WRONG;
  if (said.rest === '' || gold.rest === '') return AS_WRITTEN;
  const own = compareTexts(gold.rest, said.rest, options);
  return own.verdict === 'right' || !isProse(said.rest) ? own : AS_WRITTEN;
}

const RANGE = /^\D*(\d{1,12})\s?–\s?(\d{1,12})\D*$/;
const isRange = (text: string): boolean => Number(RANGE.exec(text)?.[1]) < Number(RANGE.exec(text)?.[2]);

function compareContents(gold: string, answer: string, options: LeafOptions): Outcome {
  const [g, a] = options.decimalsGiven ? [undefined, undefined] : [plainNumber(gold), plainNumber(answer)];
  // The same verdict as every way below, sooner.
  if (g && a) return Q.equal(g, a) ? EQUAL : WRONG;
  // IV is no VI, CO no Co, C' no C.
  const [name, other] = [bareName(gold), bareName(answer)];
  if (name && other && name !== other) return WRONG;
  const isSame = sameMoment(gold, answer);
  if (isSame !== undefined) return isSame ? EQUAL : WRONG;
  if (/[A-Za-z]\s*\?+[}$)\s.]*$/.test(answer) && !gold.includes('?')) return WRONG;
  const [said, meant] = [yesOrNo(answer), yesOrNo(gold)];
  if (said && meant) return said === meant ? AS_WRITTEN : WRONG;
  if (isProse(gold) && isProse(answer)) {
    if (sameWords(gold, answer)) return AS_WRITTEN;
    if (isWording(gold) && isWording(answer)) return WRONG;
  }
  const [solution, own] = readBoth(gold, answer);
  if (typeof solution === 'string') return WRONG;
  return typeof own === 'string' ? wrong(own) : decide(solution, own, options);
}

const ROMAN = /^M{0,3}(?:C[MD]|D?C{0,3})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})$/;

/** A Roman numeral, a chemical sign of two letters, a letter with a prime. */
function bareName(text: string): string | undefined {
  const plain = undressed(text).replaceAll(' ', '');
  if (!/^[A-Z][A-Za-z']{0,9}$/.test(plain)) return undefined;
  return (plain.length > 1 && ROMAN.test(plain)) || /^[A-Z](?:[A-Za-z]|'*)$/.test(plain) ? plain : undefined;
}

const PLAIN_NUMBER = /^-?\d{1,30}(?:\.\d{1,30})?$/;

function plainNumber(text: string): Q.Rational | undefined {
  const trimmed = text.trim();
  return PLAIN_NUMBER.test(trimmed) ? Q.fromDecimal(trimmed) : undefined;
}

/** The spelling without blanks and styling; blanks between digits or letters stay. */
const asWritten = remembered((text: string): string =>
  respell(text)
    .replace(/\\(?:left|right|displaystyle|[,!;: ]|q?quad)(?![A-Za-z])/g, ' ')
    .replace(/\\[dt]frac/g, '\\frac')
    .replace(/\\([lgn]e)q?(?:slant)?(?![A-Za-z])/g, '\\$1 ')
    .replace(/\$/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/(?<![A-Za-z0-9]) | (?![A-Za-z0-9])/g, '')
    .replace(/\.$/, ''),
);

type Unread = 'unreadable' | 'too-big';
const readPlain = remembered((text: string) => read(text));
const readGold = remembered((text: string) => read(text), MANY);

/** Several values, also behind a name: `x \in \{1, 3\}`, `x = 2 \pm 1`, the cells of a matrix. */
function isSeveral(node: Node): boolean {
  if (node.k === 'rel') return isSeveral(node.items.at(-1)!);
  return some(
    node,
    (n) => /^(?:pm|matrix|setop)$/.test(n.k) || (/^(?:list|set|tuple)$/.test(n.k) && children(n).length > 1),
  );
}

const isOne = (node: Node | Unread): boolean => typeof node !== 'string' && !isSeveral(node);

/**
 * A comma parts thousands, unless one side has several values and the other has one. Then it parts items in the one; if that still is
 * one, it may be a decimal comma in the other: in a solution only in `0,5` and `3,14`, as `1,5` may be two values.
 */
function readBoth(solution: string, answer: string): readonly [Node | Unread, Node | Unread] {
  const [gold, plain] = [readGold(solution), readPlain(answer)];
  if (typeof plain === 'string' || isOne(gold) === isOne(plain)) return [gold, plain];
  if (isOne(gold)) return [gold, isDecimal(plain, answer, /\d,\d/) ? read(answer, 'decimals') : plain];
  const items = answer.includes(',') ? read(answer, 'items') : plain;
  const isWritten = isOne(items) && isDecimal(gold, solution, /\b0,\d|\d,\d\d/);
  return [isWritten ? read(solution, 'decimals') : gold, items];
}

const isDecimal = (node: Node | Unread, text: string, comma: RegExp): boolean =>
  typeof node !== 'string' && node.k === 'list' && comma.test(text) && text.indexOf(',') === text.lastIndexOf(',');

const ALL_EXCEPT =
  /^(?:(?:all|any|every)\s+)?(?:real numbers?|reals)(?:\s+\$?x\$?)?,?\s+(?:except(?:\s+for)?|other than|not equal to|excluding)\s+([^a-z]+)$/i;

function read(source: string, commas?: Commas): Node | Unread {
  const text = numberWord(source) ?? source;
  if (saysNothing(text)) return { k: 'set', items: [], explicit: true };
  if (saysEverything(text)) return { k: 'named', name: 'R' };
  if (isWording(text) && /\s/.test(plainWords(text)) && !/\\[a-z]|\b(and|or)\b/.test(text)) return { k: 'text', text };
  try {
    const except = ALL_EXCEPT.exec(text.replace(/\\text\s*\{([^{}]*)\}/g, ' $1 ').trim())?.[1];
    return parseAnswer(except === undefined ? text.trim() : `\\mathbb{R} \\setminus \\{${except}\\}`, commas);
  } catch (error) {
    if (error instanceof Unparsed) return 'unreadable';
    if (error instanceof TooBig) return 'too-big';
    throw error;
  }
}

function decide(gold: Node, answer: Node, options: LeafOptions): Outcome {
  const word = wordOn(gold, answer, options);
  if (word === 'too-big' || word === 'no-value') return wrong(word);
  const reason = RIGHT[word];
  return reason ? { verdict: 'right', reason } : wrong(word === 'unknown' ? 'not-shown' : 'different');
}

function wordOn(gold: Node, answer: Node, options: LeafOptions): Sameness | 'too-big' | 'no-value' {
  try {
    const c = newComparison();
    if (gold.k !== 'family' && answer.k !== 'family') return compareAnswers(gold, answer, c, options);
    const bodies = gold.k === 'family' && answer.k === 'family' ? familiesOf(gold, answer, c) : undefined;
    return bodies ? compareAnswers(...bodies, newComparison(), options) : 'different';
  } catch (error) {
    if (error instanceof TooBig) return 'too-big';
    throw error;
  }
}

/** Against a solution that judges by its spelling alone; the commas and the "if" of cases are a matter of taste. */
export function compareSpellings(gold: string, answer: string): Outcome {
  const [g, a] = [gold, answer].map((text) => asWritten(text.replace(CASE_MARK, '&')));
  return g === a ? AS_WRITTEN : wrong('not-shown');
}
const CASE_MARK = /,?\s*&\s*(?:\\(?:text|mbox|mathrm)\s*\{\s*,?\s*(?:if|for|when)\s*\})?/g;

/** Can the solution's final answer be read, and is it shown equal to itself? `spelled`: it cannot, but is well formed. */
export function standsForItself(
  text: string,
  options: LeafOptions,
): 'yes' | 'spelled' | Unread | 'not-equal-to-itself' {
  if (text.length > LIMITS.candidateChars) return 'too-big';
  if (solutionChoice(text, options.choices.length) || plainNumber(text) || timeOf(text) || dateOf(text)) return 'yes';
  if (yesOrNo(text) || isWording(text)) return 'yes';
  const plain = withoutHedges(text);
  // Two trees, as an answer would be another one: what is known of the first costs nothing to show of itself.
  const [node, again] = [readGold(plain), read(plain)];
  const word = typeof node === 'string' ? node : typeof again === 'string' ? again : wordOn(node, again, options);
  if (RIGHT[word]) return 'yes';
  if (word !== 'no-value' && isSpelling(text)) return 'spelled';
  return word === 'unreadable' || word === 'too-big' ? word : 'not-equal-to-itself';
}
