// A program's own name for some of its calls.

import { oneLine } from '../text/foreign-text.ts';

const TAG_CHARS = 100;

export const TAG_RULE = `a text of 1 to ${TAG_CHARS} characters, none of them a control character`;

/** Undefined for a value that is none. */
export function callTag(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim().toWellFormed() : '';
  return text.length > 0 && text.length <= TAG_CHARS && oneLine(text) === text ? text : undefined;
}
