// Compares a solution's final answer with an answer's, both as texts: choices, dates, words, then mathematics in each
// way that it may be read. Right needs a proof; everything else is wrong and says why.

import { type Choice, lastLetter, LETTERS, namesOneChoice, placeOfWords } from '../read/choices.ts';
import type { Node } from '../base/ast.ts';
import { compareAnswers } from './compare.ts';
import { familiesOf } from './families.ts';
import { newComparison } from '../value/comparison.ts';
import type { LeafOptions, Sameness } from './leaf.ts';
import { isHedged, withoutHedges } from '../read/harmless-words.ts';
import { LIMITS, TooBig, Unparsed } from '../base/limits.ts';
import { dateOf, timeOf, weekdayOf } from '../read/moments.ts';
import { numberWord } from '../read/number-words.ts';
import { parseAnswer } from '../read/parse.ts';
import * as Q from '../base/rational.ts';
import { MANY, remembered } from '../base/remembered.ts';
import { respell } from '../read/spelling.ts';
import { isSpelling } from './spelled.ts';
import type { Reading } from '../read/tokens.ts';
import {
  answerChoice,
  choicesSaid,
  isProse,
  isWording,
  solutionChoice,
  plainWords,
  sameWords,
  WRAPPER,
  saysEverything,
  saysNothing,
  yesOrNo,
} from '../read/words.ts';

export interface Outcome {
  readonly verdict: 'right' | 'wrong';
  readonly reason: string;
}
const RIGHT: Readonly<Partial<Record<Sameness, string>>> = {
  exact: 'equal',
  form: 'equal-form',
  sampled: 'equal-sampled',
  rounded: 'equal-rounded',
  text: 'equal-text',
};
const wrong = (reason: string): Outcome => ({ verdict: 'wrong', reason });
const WRONG = wrong('different');
const AS_WRITTEN: Outcome = { verdict: 'right', reason: 'equal-text' };

export function compareTexts(solution: string, said: string, options: LeafOptions): Outcome {
  // "About 5" bounds 5, unless the solution says so as well; a decimal was rounded.
  const gold = withoutHedges(solution);
  const hedged = isHedged(said) && (isHedged(solution) || /\d\.\d/.test(said));
  const answer = hedged ? withoutHedges(said) : said;
  if (!hedged && isHedged(said) && /\d/.test(said)) return asWritten(solution) === asWritten(said) ? AS_WRITTEN : WRONG;
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
  const own = compareContents(gold.rest, said.rest, options);
  return own.verdict === 'right' || !isProse(said.rest) ? own : AS_WRITTEN;
}

const RANGE = /^\D*(\d{1,12})\s?–\s?(\d{1,12})\D*$/;
const isRange = (text: string): boolean => Number(RANGE.exec(text)?.[1]) < Number(RANGE.exec(text)?.[2]);

function compareContents(gold: string, answer: string, options: LeafOptions): Outcome {
  const written = asWritten(gold);
  if (written !== '' && written === asWritten(answer)) return AS_WRITTEN;
  const [g, a] = options.decimalsGiven ? [undefined, undefined] : [plainNumber(gold), plainNumber(answer)];
  // The same verdict as every way below, sooner.
  if (g && a) return Q.equal(g, a) ? { verdict: 'right', reason: 'equal' } : WRONG;
  // IV is no VI, CO no Co, C' no C.
  const [name, own] = [bareName(gold), bareName(answer)];
  if (name && own && name !== own) return WRONG;
  const moments = compareMoments(gold, answer);
  if (moments) return moments;
  if (/[A-Za-z]\s*\?+[}$)\s.]*$/.test(answer) && !gold.includes('?')) return WRONG;
  const [said, meant] = [yesOrNo(answer), yesOrNo(gold)];
  if (said && meant) return said === meant ? AS_WRITTEN : WRONG;
  if (isProse(gold) && isProse(answer)) {
    if (sameWords(gold, answer)) return AS_WRITTEN;
    if (isWording(gold) && isWording(answer)) return WRONG;
  }
  return compareParsed(numberWord(gold) ?? gold, numberWord(answer) ?? answer, options);
}

const ROMAN = /^M{0,3}(?:C[MD]|D?C{0,3})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})$/;

/** A Roman numeral, a chemical sign of two letters, a letter with a prime. */
function bareName(text: string): string | undefined {
  const plain = text.replace(WRAPPER, ' ').replace(/[{}$ ]/g, '');
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

function compareMoments(gold: string, answer: string): Outcome | undefined {
  const g = timeOf(gold);
  const a = g && timeOf(answer);
  if (g && a) {
    if (g.day !== a.day) return WRONG;
    if (g.marked === a.marked) return g.seconds === a.seconds ? { verdict: 'right', reason: 'equal' } : WRONG;
    // "15:30" is 3:30 pm; a bare solution accepts the same clock with either mark.
    if (g.seconds === a.seconds || (!g.marked && g.clock === a.clock)) return { verdict: 'right', reason: 'equal' };
    return WRONG;
  }
  const [x, y] = [dateOf(gold), dateOf(answer)];
  const [day, other] = [weekdayOf(gold), weekdayOf(answer)];
  if (x && y)
    return x === y && (day === undefined || other === undefined || day === other)
      ? { verdict: 'right', reason: 'equal' }
      : WRONG;
  // A number or a fraction is no moment; `7:32` alone may be a ratio.
  if (((g?.marked || x) && isFigures(answer)) || (y && isFigures(gold))) return WRONG;
  return undefined;
}

const isFigures = (text: string): boolean => /^(?:\\[dt]?frac|[\s\d.,+*/^(){}$-])+$/.test(text);

type Unread = 'unreadable' | 'too-big';
const PLAIN: Reading = { grouping: true, decimalComma: false };
const readPlain = remembered((text: string) => read(text, PLAIN));
const readGold = remembered((text: string) => read(text, PLAIN), MANY);

function compareParsed(gold: string, answer: string, options: LeafOptions): Outcome {
  const g = readGold(gold);
  const a = readPlain(answer);
  if (typeof a === 'string') return wrong(a);
  if (typeof g === 'string') return WRONG;
  if (
    isProse(gold) !== isProse(answer) &&
    (bareWord(g) || bareWord(a)) &&
    g.k !== a.k &&
    !(g.k === 'text' || a.k === 'text')
  )
    return WRONG;
  const first = decide(g, a, options);
  if (first.verdict === 'right' || !(answer + gold).includes(',')) return first;
  return otherReading(gold, answer, g, a, options) ?? first;
}

/** A run of letters that may be a word: `odd`. */
const bareWord = (node: Node): boolean =>
  node.k === 'mul' && node.items.length >= 3 && node.items.every((n) => n.k === 'sym' || n.k === 'const');

/** A comma can part thousands, decimals or items: the other side shows which was meant. */
function otherReading(gold: string, answer: string, g: Node, a: Node, options: LeafOptions): Outcome | undefined {
  const tries: (readonly [Node | string, Node | string])[] = [];
  const isList = (n: Node): boolean => n.k === 'list' || n.k === 'set' || n.k === 'tuple';
  const decimal = { grouping: true, decimalComma: true };
  if (isList(g) && !isList(a) && answer.includes(','))
    tries.push([g, read(answer, { grouping: false, decimalComma: false })]);
  if (a.k === 'list' && g.k !== 'list' && /^[^,]*\d,\d+[^,]*$/.test(answer)) tries.push([g, read(answer, decimal)]);
  if (g.k === 'list' && a.k !== 'list' && /^[^,]*(\b0,\d+|\d,\d\d+)[^,]*$/.test(gold))
    tries.push([read(gold, decimal), a]);
  for (const [x, y] of tries) {
    if (typeof x === 'string' || typeof y === 'string') continue;
    const outcome = decide(x, y, options);
    if (outcome.verdict === 'right') return outcome;
  }
  return undefined;
}

const ALL_EXCEPT =
  /^(?:(?:all|any|every)\s+)?(?:real numbers?|reals)(?:\s+\$?x\$?)?,?\s+(?:except(?:\s+for)?|other than|not equal to|excluding)\s+([^a-z]+)$/i;

function read(text: string, reading: Reading): Node | Unread {
  if (saysNothing(text)) return { k: 'set', items: [], explicit: true };
  if (saysEverything(text)) return { k: 'named', name: 'R' };
  if (isWording(text) && /\s/.test(plainWords(text)) && !/\\[a-z]|\b(and|or)\b/.test(text)) return { k: 'text', text };
  try {
    const except = ALL_EXCEPT.exec(text.replace(/\\text\s*\{([^{}]*)\}/g, ' $1 ').trim())?.[1];
    return parseAnswer(except === undefined ? text.trim() : `\\mathbb{R} \\setminus \\{${except}\\}`, reading);
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

/** Against a solution that judges by its spelling alone. */
export function compareSpellings(gold: string, answer: string): Outcome {
  return spelling(gold) === spelling(answer) ? AS_WRITTEN : wrong('not-shown');
}

/** The commas and the "if" of cases are a matter of taste. */
const spelling = (text: string): string =>
  asWritten(
    text
      .replace(/,?\s*&\s*(?:\\(?:text|mbox|mathrm)\s*\{\s*,?\s*(?:if|for|when)\s*\})?/g, '&')
      .replace(/,(?=\s*(?:\\\\|\\end))/g, ''),
  );

/** Can the solution's final answer be read, and is it shown equal to itself? `spelled`: it cannot, but is well formed. */
export function standsForItself(
  text: string,
  options: LeafOptions,
): 'yes' | 'spelled' | Unread | 'not-equal-to-itself' {
  if (text.length > LIMITS.candidateChars) return 'too-big';
  const choice = solutionChoice(text, options.choices.length);
  if (
    choice ||
    /^\(?[a-j]\)?\.?$/.test(text.trim()) ||
    plainNumber(text) ||
    timeOf(text) ||
    dateOf(text) ||
    yesOrNo(text)
  )
    return 'yes';
  if (isWording(text)) return 'yes';
  const plain = numberWord(text) ?? withoutHedges(text);
  const spelled = isSpelling(text) ? 'spelled' : undefined;
  const node = readGold(plain);
  // Two trees, as an answer would be another one: what is known of the first costs nothing to show of itself.
  const again = read(plain, PLAIN);
  if (typeof node === 'string') return spelled ?? node;
  if (typeof again === 'string') return spelled ?? 'unreadable';
  const word = wordOn(node, again, options);
  if (word === 'too-big') return spelled ?? word;
  if (word === 'no-value') return 'not-equal-to-itself';
  return RIGHT[word] ? 'yes' : (spelled ?? 'not-equal-to-itself');
}
