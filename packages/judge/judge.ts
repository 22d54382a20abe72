// The mathematics judge as a pure function: the final answer of a text against each of the solutions. With a solution
// that can be used every answer is right or wrong; `undecided` is the data set's fault. Throws for no text, reads no clock,
// and its work is bounded by LIMITS.

import { compareSpellings, compareTexts, type Outcome } from './compare/compare-texts.ts';
import type { LeafOptions } from './compare/leaf.ts';
import { findAnswer, type Found, replySource } from './find/answer.ts';
import { soughtFor } from './find/sought.ts';
import { asksPercent, withoutAskedScale } from './read/asked.ts';
import { LIMITS } from './base/limits.ts';
import { type JudgeOptions, leafOptions, mustBeAsked, readSolution, type Solution } from './solution.ts';

export type { JudgeOptions } from './solution.ts';

export interface Judged {
  readonly verdict: 'right' | 'wrong' | 'undecided';
  /** Stable machine name of the reason: `equal`, `different`, `unreadable`, `cut-off`, … */
  readonly reason: string;
  /** The final answer that was found in the text, if any; at most 200 characters. */
  readonly extracted?: string;
  /** With `explain`: the mark or the place by which it was found. */
  readonly found?: Found['by'];
  /** With `explain`: the solution's final answer. */
  readonly against?: string;
}

const SHOWN_CHARS = 200;

/** `answer`: a whole reply. Right if its final answer equals the solution, or any of several. Throws for arguments of other types. */
export function judge(answer: string, solutions: string | readonly string[], options: JudgeOptions = {}): Judged {
  mustBeAsked(answer, solutions, options);
  const leaf = leafOptions(options);
  const read = [solutions].flat().map((text) => readSolution(text, leaf));
  const usable = read.filter(({ reason }) => reason === undefined);
  if (usable.length === 0) {
    const reason = read.every((solution) => solution.reason === 'empty') ? 'no-solution' : 'solution-unreadable';
    return { verdict: 'undecided', reason };
  }
  const source = replySource(answer, options.cut, leaf.question);
  let best: Judged | undefined;
  for (const gold of usable) {
    const sought = options.cut ? {} : soughtFor(gold.text, leaf.choices.length);
    const verdict = judgeOne(findAnswer(source, sought), gold, leaf, options.explain);
    if (verdict.verdict === 'right') return verdict;
    // A reason that says more than "different" may be a false no.
    if (!best || best.reason === 'different') best = verdict;
  }
  return best!;
}

function judgeOne(found: Found | 'cut-off' | undefined, gold: Solution, options: LeafOptions, explain = false): Judged {
  if (found === undefined || found === 'cut-off') return { verdict: 'wrong', reason: found ?? 'no-answer' };
  const outcome = compareFound(found, gold, options);
  const verdict = { ...outcome, extracted: found.text.trim().slice(0, SHOWN_CHARS) };
  return explain ? { ...verdict, found: found.by, against: gold.text.slice(0, SHOWN_CHARS) } : verdict;
}

function compareFound(found: Found, gold: Solution, options: LeafOptions): Outcome {
  if (gold.spelled) return compareSpellings(gold.text, found.text);
  const once = found.text === gold.text ? found.text : restated(found.text);
  const first = compareTexts(gold.text, once, options);
  if (first.verdict === 'right') return first;
  for (const [solution, said] of otherForms(found, gold, options.question)) {
    const other = compareTexts(solution, said, options);
    if (other.verdict === 'right') return other;
  }
  if (found.otherwise === undefined) return first;
  return compareFound({ text: found.otherwise, by: 'last' }, gold, options);
}

/** The same answer without what the question or a mark leaves open: a sign of percent, a scale. */
function* otherForms(found: Found, gold: Solution, question: string): Generator<readonly [string, string]> {
  if (gold.bare !== undefined) yield [gold.bare, found.text];
  if (found.bare !== undefined) yield [gold.text, found.bare];
  if (question === '') return;
  if (asksPercent(question)) yield [withoutPercent(gold.text), withoutPercent(found.text)];
  const scaled = withoutAskedScale(found.text, question);
  if (scaled !== undefined) yield [gold.text, scaled];
}

/** `1/6 (about 16.7 %)`, `2.5 kg (2500 grams)`: the value in brackets is no factor. */
const RESTATED =
  /^([^()]*\d[^()]*)(?<![-+*/^=<>,;]|\b(?:and|or)|\\(?!pi)[A-Za-z]+)\s\((?:=|≈|\\approx|about|approximately)?\s*([-$]?[\d.,/]+(?:\\?%|\s[A-Za-z][^()]*)?)\)$/;

/** A longer text is compared as it is written. */
const restated = (text: string): string =>
  text.length > LIMITS.candidateChars ? text : text.replace(RESTATED, '$1 \\approx $2');

const withoutPercent = (text: string): string =>
  /^\s*(-?\d[\d.,]*)\s*(?:\\?%|(?:\\text\s*\{\s*)?percent\s*\}?)\s*\.?$/.exec(text)?.[1] ?? text;
