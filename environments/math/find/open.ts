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
  const chained = words.length < all.length;
  if (CONDITION.has(words[0] ?? '') && !chained) return false;
  // "Halving \\boxed{36} gives the answer": a gerund alone states nothing.
  if (
    alone &&
    (words[0] ?? '').endsWith('ing') &&
    !chained &&
    !words.some((word, k) => k > 0 && (isLink(word) || /[^s]s$|ed$/.test(word)))
  )
    return false;
  const mine = (word: string): boolean => known(word) || known.gives?.(word) === true;
  const governing = words.filter((word) => !GOVERNED.test(word)).slice(-2);
  if (governing.some((word) => isRefusing(word) && !mine(word)) || (!chained && isMeta(words.at(-1) ?? '')))
    return false;
  if (HEDGED.test(words.at(-1) ?? '')) return false;
  const zone = words.findIndex((word, k) => k > 0 && opensZone(word));
  const head = zone < 0 || !known.asked ? words : words.slice(0, zone);
  if (head.some((word, k) => ((isTransform(word) && (zone < 0 || k < zone)) || isOther(word)) && !mine(word)))
    return false;
  return words.every((word) => mine(word) || !(isDoubting(word) || isNegation(word) || isFault(word)));
}
const CHAIN = /^[⟦=:]$/;
const GOVERNED = /^(?:the|a|an|of|exactly|precisely|in|to|by|is|are|was|be|it|at)$/;

const HEDGED = /^(?:about|roughly|approximately|around|almost|nearly)$/;
