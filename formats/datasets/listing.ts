// The choices of a row as a question lists them.

import { LETTERS, listedChoices } from '../../packages/judge/index.ts';

/** A choice with its letter: as it is listed, and as a solution has it. */
export const statedChoice = (place: number, text: string): string => `(${LETTERS[place]}) ${text}`;

/** The choices as they are appended to a question. */
export const listing = (texts: readonly string[]): string => texts.map((text, i) => statedChoice(i, text)).join('\n');

/** Does the text list these choices, by their letters and in this order? */
export function lists(text: string, choices: readonly string[]): boolean {
  const listed = listedChoices(text);
  return choices.every((own, i) => squeezed(listed[i] ?? '').startsWith(squeezed(own)));
}

const squeezed = (text: string): string => text.replace(/\s/g, '');
