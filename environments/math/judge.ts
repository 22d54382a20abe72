// The mathematics judge as a pure function: the final answer of a text against each of the solutions. With a solution
// that can be used every answer is right or wrong; `undecided` is the data set's fault. Never throws, reads no clock,
// and its work is bounded by LIMITS.

import type { Verdict } from '../../domain/verdict.ts';
import { compareSpellings, compareTexts } from './compare/compare-texts.ts';
import { isRelationSign } from './compare/spelled.ts';
import { askedUnit, withoutAskedScale } from './compare/asked-unit.ts';
import { asksFor, isAboutAnother } from './compare/subject.ts';
import { askedOf } from './find/asked.ts';
import { extractChoice } from './find/choice.ts';
import { extractAnswer, TITLE } from './find/extract.ts';
import type { LeafOptions } from './compare/leaf.ts';
import type { Extraction, Found } from './find/phrases.ts';
import { knownIn } from './find/known.ts';
import { isWord, statesWord } from './find/stated-word.ts';
import { takeObstacle } from './find/obstacle.ts';
import { type JudgeOptions, leafOptions } from './judge-options.ts';
import { lastLinkOf } from './last-link.ts';
import { remembered } from './remembered.ts';
import { readSolution, type Solution } from './solution.ts';
import { withDigits } from './read/number-words.ts';
import { choiceOf } from './read/words.ts';

export type { JudgeOptions } from './judge-options.ts';

/** `obstacle`: where it was asked for, the words at which the search for a final answer ended. */
export interface Explained extends Verdict {
  readonly obstacle?: string;
}

const SHOWN_CHARS = 200;

export function judgeMath(answer: string, solutions: readonly string[], options: JudgeOptions = {}): Explained {
  takeObstacle();
  const { question } = options;
  const asked = question === undefined ? options : { ...options, question: question.replace(TITLE, '$1 ') };
  const verdict = judged(answer, solutions, asked);
  const obstacle = options.explain === true && verdict.verdict === 'wrong' ? takeObstacle() : undefined;
  return obstacle === undefined ? verdict : { ...verdict, obstacle };
}

function judged(answer: string, solutions: readonly string[], options: JudgeOptions): Verdict {
  const leaf = leafOptions(options);
  const lists = listsChoices(leaf.question);
  const read = solutions.map((text) => readSolution(lists ? asChoice(text) : text, leaf));
  const usable = read.filter((solution) => solution.usable);
  if (usable.length === 0) {
    const reason = read.every((solution) => solution.reason === 'empty') ? 'no-solution' : 'solution-unreadable';
    return { verdict: 'undecided', reason };
  }
  const known = knownIn(
    options.question ?? '',
    usable.map(({ text }) => text),
  );
  const found = extractAnswer(answer, options.cut, known);
  let best: Verdict | undefined;
  for (const gold of usable) {
    const verdict = withSubject(judgeOne(answer, found, gold, leaf, options.cut === true), found, gold, leaf);
    if (verdict.verdict === 'right') return verdict;
    // A reason that says more than "different" may be a false no.
    if (!best || best.reason === 'different') best = verdict;
    if (isUnmarked(found) && options.cut !== true && isWord(gold.text) && statesWord(answer, gold.text, leaf.question))
      return { verdict: 'right', reason: 'equal-text', extracted: gold.text };
  }
  return best ?? { verdict: 'undecided', reason: 'no-solution' };
}

/**
 * The right side of an equation about another quantity is no answer, unless the solution is an equation or its left side; of one whose
 * left side is the question's own expression it is. A rounded value beside the exact one has to round it.
 */
function withSubject(verdict: Verdict, found: Found, gold: Solution, options: LeafOptions): Verdict {
  if (!found || found === 'cut-off' || gold.spelled || /[=<>]|\\[lg]e/.test(gold.text)) return verdict;
  if (verdict.verdict !== 'right') return withAsked(verdict, found.text, gold, options);
  const wrong: Verdict = { ...verdict, verdict: 'wrong', reason: 'different' };
  const rounded = gold.text.includes('.') ? undefined : found.rounded?.();
  if (rounded !== undefined) {
    const both = compareTexts(gold.text, `${gold.text} \\approx ${share(rounded)}`, options);
    if (both.reason === 'different') return wrong;
  }
  if (found.chain !== undefined && isFalse(found.chain, found.text, options)) return wrong;
  const about = found.about?.() ?? { equation: found.text, named: false };
  if (!about.equation.includes('=') || !isAboutAnother(about, options.question)) return verdict;
  const left = about.equation.slice(0, about.equation.indexOf('='));
  return compareTexts(gold.text, left, options).verdict === 'right' ? verdict : wrong;
}

/** "Find x^2 + y^2": of `x^2 + y^2 = 19` the 19. */
function withAsked(verdict: Verdict, said: string, gold: Solution, options: LeafOptions): Verdict {
  const at = options.question === '' ? -1 : said.indexOf('=');
  if (at < 0 || !asksFor(said.slice(0, at), askedOf(options.question))) return verdict;
  const again = compareTexts(gold.text, said.slice(at + 1), options);
  return again.verdict === 'right' ? { ...verdict, ...again } : verdict;
}

/** 16.7% as 0.167. */
const share = (text: string): string => {
  const [, whole, places = ''] = /^([-−]?[\d,]+)(?:\.(\d+))?\s*\\?%$/.exec(text) ?? [];
  if (whole === undefined) return text;
  return (Number(`${whole.replaceAll(',', '').replace('−', '-')}.${places || '0'}`) / 100).toFixed(places.length + 2);
};
/** "60 + 33 = 94", as exactly as the value is written; the sign of percent may stand on one side alone. */
function isFalse(link: string, said: string, options: LeafOptions): boolean {
  // "$2.50 - $2.24 = 26 cents"
  if (/cents?\b|¢/.test(said)) return false;
  const value = /\p{L}/u.test(link) ? said : (/^[-−$€£\d.,/]*\d%?(?=\s|$)/.exec(said)?.[0] ?? said);
  const places = /\.(\d+)%?$/.exec(value)?.[1]?.length;
  const written = places === undefined ? options : { ...options, decimals: places, decimalsGiven: true };
  return ['', '%'].every((sign) =>
    ['', '%'].every(
      (other) => compareTexts(without(link, sign), without(value, other), written).reason === 'different',
    ),
  );
}
const without = (text: string, sign: string): string => text.replace(/[$€£]/g, '').replaceAll(sign, '');

function judgeOne(answer: string, found: Found, gold: Solution, options: LeafOptions, cut: boolean): Verdict {
  const choice = choiceOf(gold.text);
  let own: Extraction | undefined = found === 'cut-off' ? undefined : found;
  if (choice && own && listsChoices(options.question)) own = { ...own, text: asChoice(own.text) };
  if (choice && choice.rest === '' && !cut && needsChoice(own)) own = extractChoice(answer) ?? own;
  if (choice && own) own = { ...own, text: withoutOption(own.text, options.question) };
  // Signs alone are no answer: nothing in them could be right.
  if (own && !isRelationSign(gold.text) && !/[\p{L}\p{N}∅∞]|\\\{\s*\\\}/u.test(own.text)) own = undefined;
  if (!own && !cut && isRelationSign(gold.text)) own = signIn(answer);
  const unmarked = isUnmarked(own);
  // A short text in which every word is accounted for is an answer as a whole: "all reals except 2".
  if (
    unmarked &&
    !cut &&
    !gold.spelled &&
    /[A-Za-z]{4}/.test(gold.text.replace(/\\[A-Za-z]+/g, ' ')) &&
    answer.length <= SHOWN_CHARS &&
    !/\n|boxed/.test(answer.trim())
  ) {
    const all = compareTexts(gold.text, answer.trim(), options);
    if (all.verdict === 'right') return { ...all, extracted: answer.trim() };
  }
  if (!own) return { verdict: 'wrong', reason: found === 'cut-off' || cut ? 'cut-off' : 'no-answer' };
  const extracted = own.text.trim().slice(0, SHOWN_CHARS);
  // The sixth is not six.
  if (ORDINAL.test(own.text) && !ORDINAL.test(gold.text)) return { verdict: 'wrong', reason: 'different', extracted };
  const other = own.also?.find((said) => !agrees(said, own, gold, options));
  if (other !== undefined) return { verdict: 'wrong', reason: 'different', extracted };
  if (gold.spelled) return { ...compareSpellings(gold.text, own.text), extracted };
  const first = compareTexts(gold.text, own.text, options);
  const [goldPercent, ownPercent] = ASKS_PERCENT.test(options.question)
    ? [withoutPercent(gold.text), withoutPercent(own.text)]
    : [];
  for (const [g, a] of [
    [goldPercent, own.text],
    [gold.text, ownPercent],
    [gold.bare, own.text],
    // A share is no length: the sign may be left out where no unit is asked for.
    ...(own.bare !== undefined && askedUnit(options.question) ? [] : [[gold.text, own.bare]]),
    [gold.bare, own.bare],
    [gold.text, withoutAskedScale(own.text, options.question)],
    [gold.text, withoutRestatement(own.text, options)],
    [gold.text, lastLinkOf(own.text, options)],
  ]) {
    if (first.verdict === 'right' || g === undefined || a === undefined) continue;
    const other = compareTexts(g, a, options);
    if (other.verdict === 'right') return { ...other, extracted };
  }
  return { ...first, extracted };
}

const isUnmarked = (found: Found): boolean =>
  found === undefined || (found !== 'cut-off' && /^(?:number|formula|whole)$/.test(found.by));

/** "2 hours (120 minutes)", "14 days (exactly two weeks)": the same once more. */
function withoutRestatement(text: string, options: LeafOptions): string | undefined {
  const [, first, again] = /^([^()]*\d[^()]*)\s\(([^()]*)\)\s*\.?$/.exec(text) ?? [];
  if (first === undefined || again === undefined) return undefined;
  const said = withDigits(again.replace(/^\s*(?:or|i\.e\.,?|that is,?|exactly|which is|equivalently|=)\s+/i, ''));
  return compareTexts(first, said, { ...options, question: '' }).verdict === 'right' ? first : undefined;
}

/** MathQA's questions list "a ) 800 , b ) 820 , c ) 840". One pass. */
const listsChoices = remembered((question: string): boolean => {
  let next = 0;
  for (const [, letter] of question.matchAll(/(?:^|[\s(])([a-c]) ?\)/g)) if (letter === 'abc'[next]) next++;
  return next === 3;
});

/** `c` and `c) 840` where small letters name the choices. */
const asChoice = (text: string): string =>
  text.replace(
    /^(\s*\(?)([a-j])(?=\s*(?:\)|[.:]?\s*$))/,
    (_, before: string, letter: string) => before + letter.toUpperCase(),
  );

/** "(C) both A and B" where the question lists these words under C. */
function withoutOption(text: string, question: string): string {
  const said = choiceOf(text);
  if (!said || said.rest === '' || question === '') return text;
  const listed = squeezed(question).indexOf(squeezed(`${said.letter}) ${said.rest}`).replace(/\.$/, ''));
  return listed < 0 ? text : said.letter;
}
const squeezed = (text: string): string => text.replace(/[\s${}~]|\\(?:text|mathrm|[,;:! ])|\*\*/g, '').toLowerCase();

/** "The sign is $<$.": a text that holds nothing but one relation sign. */
function signIn(answer: string): Extraction | undefined {
  const text = answer.replace(
    /^\s*(?:the )?(?:(?:correct|right|missing) )?(?:sign|symbol|relation|answer)(?: is|:)?(?=[\s$:])/i,
    '',
  );
  const sign = text.replace(/^[\s:]*|[\s.]*$/g, '');
  return isRelationSign(sign) ? { text: sign.replaceAll('$', '').trim(), by: 'whole' } : undefined;
}

/** An answer to a question that asks in percent may leave the sign out. */
const ASKS_PERCENT = /\b(?:what|which|find the|how many) (?:is the )?(?:[a-z]+ ){0,4}percent|\b(?:in|as a) percent/i;
const withoutPercent = (text: string): string | undefined =>
  /^\s*-?\d[\d.,]*\s*(?:\\?%|percent)\s*\.?$/.test(text) ? text.replace(/\s*(?:\\?%|percent).*$/, '') : undefined;

const ORDINAL = /^\W*\d+\s*\^?\\?(?:text|mathrm|textsuperscript)?\s*\{?(?:st|nd|rd|th)\}?\W*$/;

/** Is what was said once more right as well, as far as it says a value? */
function agrees(said: string, own: Extraction, gold: Solution, options: LeafOptions): boolean {
  if (choiceOf(gold.text) && !choiceOf(said)) return true;
  const again = extractAnswer(said.replace(/[.,;\s]+$/, ''));
  if (!again || again === 'cut-off') return !/\d/.test(said);
  if (again.text.trim() === own.text.trim() || gold.spelled) return true;
  return [gold.text, gold.bare, own.text].some(
    (g) => g !== undefined && compareTexts(g, again.text, options).verdict === 'right',
  );
}

/** Nothing in the answer was marked, or all of it is a sentence. */
const needsChoice = (own: Extraction | undefined): boolean =>
  !own ||
  own.by === 'formula' ||
  own.by === 'number' ||
  (own.by === 'whole' && !choiceOf(own.text) && /\s/.test(own.text.trim()));
