// Before a box, and in the subject of a sentence whose question is known, nouns, names and verbs are an open class. Closed classes
// object. Part of the grammar in statement.ts. Linear.

import { isRefusing } from '../read/harmless-words.ts';
import {
  CONDITION,
  isDoubting,
  isFault,
  isLink,
  isMeta,
  isNegation,
  isOther,
  isTransform,
  opensZone,
} from '../read/statement-words.ts';
import type { Known } from './known.ts';

/**
 * A value that follows reasoning with numbers, or that ends a calculation, is what the model has found: it is read as openly as one
 * in a box.
 */
export function isComputed(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - REACH), start);
  const own = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('. '), 0);
  return /[\d\\]/.test(before.slice(0, own)) || isCalculated(before);
}
const REACH = 8_000;
/** "142 - 15 + 1 = " right before the value. */
const CALCULATED = /[\d)}²³π%]\s*(?:=|\\approx)\s*[$€£]?$|\d\s?[-+−–*×÷/]\s?[$€£]?\d[^=\n]{0,40}=\s*[$€£]?$/;
export const isCalculated = (before: string): boolean => CALCULATED.test(before);

export interface Word {
  readonly written: string;
  readonly word: string;
}

/**
 * A box is the model's own mark of its answer: before it nouns, names and verbs are an open class, as in "She sews
 * \\boxed{168} aprons". Closed classes object: denial, doubt and faults anywhere; another quantity where the subject names it;
 * bounds, factors and parts of the text right before the value.
 */
export function isOpen(all: readonly Word[], known: Known, alone: boolean): boolean {
  const words = all.map(({ word }) => word);
  // The formula that ends in the box is read with it.
  while (CHAIN.test(words.at(-1) ?? '')) words.pop();
  const mine = (word: string): boolean => known(word) || known.gives?.(word) === true;
  const chained = words.length < all.length;
  if (CONDITION.has(words[0] ?? '') && !chained && !words.slice(1, 3).every(mine)) return false;
  // "Halving \\boxed{36} gives the answer": a gerund alone states nothing.
  if (
    alone &&
    (words[0] ?? '').endsWith('ing') &&
    !chained &&
    !words.some((word, k) => k > 0 && (isLink(word) || /[^s]s$|ed$/.test(word)))
  )
    return false;
  const governing = words.filter((word) => !GOVERNED.test(word)).slice(-2);
  if (
    governing.some(
      (word, k) =>
        isRefusing(word) &&
        !mine(word) &&
        !(k === 0 && COMPARATIVE.test(word)) &&
        !(isNegation(word) && known.denies === true),
    ) ||
    (!chained && isMeta(words.at(-1) ?? ''))
  )
    return false;
  const linked = words.findLastIndex(isLink);
  if (
    HEDGED.test(words.at(-1) ?? '') ||
    governing.some((word) => RELATED.test(word) && words.lastIndexOf(word) > linked)
  )
    return false;
  const zone = words.findIndex((word, k) => k > 0 && opensZone(word));
  const transforms = (word: string): boolean => (known.asked ? isTransform(word) : FACTOR.test(word));
  const head = zone < 0 || !known.asked ? words : words.slice(0, zone);
  if (
    head.some(
      (word, k) =>
        ((transforms(word) && (zone < 0 || k < zone) && !isPlain(word, words[k - 1], words[k + 1])) ||
          (isOther(word) && (known.asked || !FIRST.test(word)))) &&
        !mine(word),
    )
  )
    return false;
  return words.every(
    (word) => mine(word) || (isNegation(word) ? known.denies === true : !(isDoubting(word) || isFault(word))),
  );
}
/** Of a noun, as in "the larger crew 12 days". */
const COMPARATIVE = /^(?:larger|greater|smaller|bigger|lower|higher)$/;
/** "The double sum", "the lines are perpendicular and …": no other quantity. */
const isPlain = (word: string, before = '', after = ''): boolean =>
  word === 'double' ? /^(?:sum|integral|root|series)s?$/.test(after) : word === 'perpendicular' && before === 'are';
/** Without the question nobody knows that something else is asked for. */
const FIRST = /^(?:original|initial)(?:ly)?$/;
const FACTOR = /^(?:twice|half|thrice|double|complement|reciprocal)$/;
const CHAIN = /^[⟦=:]$/;
const GOVERNED = /^(?:the|a|an|of|exactly|precisely|in|to|by|is|are|was|be|it|at)$/;

/** Another number of which the value is a bound, a part or a reason. */
const RELATED =
  /^(?:multiples?|divisors?|factors?|close|different|upwards?|before|near|times|plus|minus|since|because|although|until|unless)$/;
const HEDGED = /^(?:about|roughly|approximately|around|almost|nearly)$/;
