// The mathematics judge as a pure function: the final answer of a text against each of the solutions. Right
// needs a proof (as written, exact, by normal form, or by many digits); wrong needs a difference; everything
// else is undecided. Never throws, and its work is bounded by LIMITS.

import type { Verdict } from '../../domain/verdict.ts';
import { compareAnswers } from './compare.ts';
import type { Node } from './ast.ts';
import { newComparison } from './equal.ts';
import { type Extraction, extractAnswer, extractChoice, extractSolution } from './extract.ts';
import type { LeafOptions, Word } from './leaf.ts';
import { LIMITS, TooBig, Unparsed } from './limits.ts';
import { parseAnswer } from './parse.ts';
import { dateOf, timeOf } from './moments.ts';
import { numberWord } from './number-words.ts';
import * as Q from './rational.ts';
import { remembered } from './remembered.ts';
import { respell } from './spelling.ts';
import type { Reading } from './tokens.ts';
import {
  choiceOf,
  isProse,
  isWording,
  loneLetter,
  plainWords,
  sameWords,
  saysEverything,
  saysNothing,
  yesOrNo,
} from './words.ts';

export interface JudgeOptions {
  /** Decimal places at which a decimal stands for an exact value; default 6. Given, decimals are rounded too. */
  readonly decimals?: number;
  /** False: letters may be renamed. Default true. */
  readonly strict?: boolean;
}

const DEFAULT_DECIMALS = 6;
const SHOWN_CHARS = 200;

export function judgeMath(answer: string, solutions: readonly string[], options: JudgeOptions = {}): Verdict {
  const found = extractAnswer(answer);
  const leaf: LeafOptions = {
    decimals: options.decimals ?? DEFAULT_DECIMALS,
    decimalsGiven: options.decimals !== undefined,
    rename: options.strict === false,
  };
  let best: Verdict | undefined;
  for (const solution of solutions) {
    const verdict = judgeOne(answer, found, solution, leaf);
    if (verdict.verdict === 'right') return verdict;
    // What one solution leaves open, another's "wrong" does not settle.
    if (!best || (best.verdict === 'wrong' && verdict.verdict === 'undecided')) best = verdict;
  }
  return best ?? { verdict: 'undecided', reason: 'no-solution' };
}

function judgeOne(
  answer: string,
  found: ReturnType<typeof extractAnswer>,
  solution: string,
  options: LeafOptions,
): Verdict {
  const gold = readSolution(solution);
  if (!gold || gold === 'cut-off') return { verdict: 'undecided', reason: 'no-solution' };
  const choice = choiceOf(gold.text);
  let own: Extraction | undefined = found === 'cut-off' ? undefined : found;
  if (choice && choice.rest === '' && needsChoice(own)) own = extractChoice(answer) ?? own;
  // Signs alone are no answer: nothing in them could be right.
  if (own && !/[\p{L}\p{N}∅∞]|\\\{\s*\\\}/u.test(own.text)) own = undefined;
  if (!own) return { verdict: 'wrong', reason: found === 'cut-off' ? 'cut-off' : 'no-answer' };
  const extracted = own.text.trim().slice(0, SHOWN_CHARS);
  const first = compareTexts(gold.text, own.text, options);
  for (const [g, a] of [
    [gold.bare, own.text],
    [gold.text, own.bare],
    [gold.bare, own.bare],
  ]) {
    if (first.verdict === 'right' || g === undefined || a === undefined) continue;
    const other = compareTexts(g, a, options);
    if (other.verdict === 'right') return { ...other, extracted };
  }
  return { ...first, extracted };
}

/** Nothing in the answer was marked, or all of it is a sentence. */
const needsChoice = (own: Extraction | undefined): boolean =>
  !own ||
  own.by === 'formula' ||
  own.by === 'number' ||
  (own.by === 'whole' && !choiceOf(own.text) && /\s/.test(own.text.trim()));

type Outcome = Omit<Verdict, 'extracted'>;
const RIGHT: Readonly<Partial<Record<Word, string>>> = {
  exact: 'equal',
  form: 'equal-form',
  sampled: 'equal-sampled',
  rounded: 'equal-rounded',
  text: 'equal-text',
};
const WRONG: Outcome = { verdict: 'wrong', reason: 'different' };
const AS_WRITTEN: Outcome = { verdict: 'right', reason: 'equal-text' };

export function compareTexts(gold: string, answer: string, options: LeafOptions): Outcome {
  const written = asWritten(gold);
  if (written !== '' && written === asWritten(answer)) return AS_WRITTEN;
  if (Math.max(gold.length, answer.length) > LIMITS.candidateChars) return { verdict: 'undecided', reason: 'too-big' };
  const goldChoice = choiceOf(gold);
  const lone = goldChoice?.rest === '' ? loneLetter(answer) : undefined;
  const answerChoice = choiceOf(answer) ?? lone;
  if (goldChoice && answerChoice && (goldChoice.rest === '' || answerChoice.rest === '')) {
    if (goldChoice.letter === answerChoice.letter) return AS_WRITTEN;
    if (goldChoice.rest === '') return WRONG;
  }
  // "(D) 14" names another choice than "(C) 14".
  if (goldChoice && answerChoice && goldChoice.letter !== answerChoice.letter) return WRONG;
  // "(C) 14" says C and 14.
  if (goldChoice && goldChoice.rest !== '')
    return compareContents(goldChoice.rest, answerChoice?.rest || answer, options);
  return compareContents(gold, answerChoice?.rest || answer, options);
}

function compareContents(gold: string, answer: string, options: LeafOptions): Outcome {
  const written = asWritten(gold);
  if (written !== '' && written === asWritten(answer)) return AS_WRITTEN;
  const [g, a] = options.decimalsGiven ? [undefined, undefined] : [plainNumber(gold), plainNumber(answer)];
  // What every way below would say, sooner.
  if (g && a) return Q.equal(g, a) ? { verdict: 'right', reason: 'equal' } : WRONG;
  const moments = compareMoments(gold, answer);
  if (moments) return moments;
  const [said, meant] = [yesOrNo(answer), yesOrNo(gold)];
  if (said && meant) return said === meant ? AS_WRITTEN : WRONG;
  if (isProse(gold) && isProse(answer)) {
    if (sameWords(gold, answer)) return AS_WRITTEN;
    if (isWording(gold) && isWording(answer)) return WRONG;
  }
  return compareParsed(numberWord(gold) ?? gold, numberWord(answer) ?? answer, options, isProse(answer));
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
    .replace(/\$/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/(?<![A-Za-z0-9]) | (?![A-Za-z0-9])/g, '')
    .replace(/\.$/, ''),
);

function compareMoments(gold: string, answer: string): Outcome | undefined {
  const g = timeOf(gold);
  const a = g && timeOf(answer);
  if (g && a) {
    if (g.marked === a.marked) return g.seconds === a.seconds ? { verdict: 'right', reason: 'equal' } : WRONG;
    // "15:30" is 3:30 pm; a bare solution accepts the same clock with either mark.
    if (g.seconds === a.seconds || (!g.marked && g.clock === a.clock)) return { verdict: 'right', reason: 'equal' };
    return WRONG;
  }
  // A bare number is no time of day.
  if (g?.marked && /^[\s\d.,]+$/.test(answer)) return WRONG;
  const x = dateOf(gold);
  const y = x && dateOf(answer);
  if (x && y) return x === y ? { verdict: 'right', reason: 'equal' } : WRONG;
  return undefined;
}

const PLAIN: Reading = { grouping: true, decimalComma: false };
const readPlain = remembered((text: string) => read(text, PLAIN));
const readSolution = remembered(extractSolution);

function compareParsed(gold: string, answer: string, options: LeafOptions, prose: boolean): Outcome {
  const g = readPlain(gold);
  const a = readPlain(answer);
  if (a === 'too-big' || g === 'too-big') return { verdict: 'undecided', reason: 'too-big' };
  if (g === 'unparsed') return { verdict: 'undecided', reason: 'solution-unparsed' };
  if (a === 'unparsed') return prose || isProse(gold) ? WRONG : { verdict: 'undecided', reason: 'unparsed' };
  if (
    isProse(gold) !== isProse(answer) &&
    (bareWord(g) || bareWord(a)) &&
    g.k !== a.k &&
    !(g.k === 'text' || a.k === 'text')
  )
    return WRONG;
  const first = decide(g, a, options);
  if (first.verdict === 'right' || !answer.includes(',') === !gold.includes(',')) {
    if (first.verdict === 'right' || !(answer.includes(',') || gold.includes(','))) return first;
  }
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

function read(text: string, reading: Reading): Node | 'unparsed' | 'too-big' {
  if (saysNothing(text)) return { k: 'set', items: [], explicit: true };
  if (saysEverything(text)) return { k: 'named', name: 'R' };
  if (isWording(text) && /\s/.test(plainWords(text)) && !/\\[a-z]|\b(and|or)\b/.test(text)) return { k: 'text', text };
  try {
    return parseAnswer(text.trim(), reading);
  } catch (error) {
    if (error instanceof Unparsed) return 'unparsed';
    if (error instanceof TooBig) return 'too-big';
    throw error;
  }
}

function decide(gold: Node, answer: Node, options: LeafOptions): Outcome {
  try {
    const word = compareAnswers(gold, answer, newComparison(), options);
    if (word === 'no-value') return { verdict: 'wrong', reason: 'no-value' };
    if (word === 'unknown') return { verdict: 'undecided', reason: 'not-shown' };
    const reason = RIGHT[word];
    return reason ? { verdict: 'right', reason } : WRONG;
  } catch (error) {
    if (error instanceof TooBig) return { verdict: 'undecided', reason: 'too-big' };
    throw error;
  }
}
