// The letter of a choice in running text, where the solution is a choice and the answer marks none.

import { type Choice, letterAlone, letterMentioned, letterNamed } from '../read/choices.ts';
import type { LeafOptions } from '../compare/leaf.ts';

/** With a solution that has words behind its letter, a letter must be pointed at: the words may be the answer as well. */
export function findChoice(
  text: string,
  { letter, rest }: Choice,
  last: string,
  leaf: LeafOptions,
): string | undefined {
  const mentioned = rest === '' ? letterMentioned(text, last) : undefined;
  const alone = leaf.choices.length > 1 ? letterAlone(text, last, leaf.question) : undefined;
  const named = letterNamed(text, last) ?? mentioned ?? alone;
  // "It is in vitamin C", for "(B) vitamin C".
  const isContent =
    named !== undefined && named !== letter && new RegExp(`(?<![A-Za-z])${named}(?![A-Za-z])`).test(rest);
  return isContent ? undefined : named;
}
