// What is wrong with a row: the field, the problem, and what would be right. And the words for values.

import type { BadRow } from './dataset.ts';

export interface Problem {
  /** Null when the whole row is wrong. */
  readonly field: string | null;
  readonly problem: string;
  readonly fix: string;
}

export function wrong(field: string | null, problem: string, fix: string): Problem {
  return { field, problem, fix };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null`, `a list`, `a number`: for messages. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A value as it may stand in a message: short, and safe on a terminal. */
export function shown(value: unknown): string {
  if (typeof value !== 'string') return kindOf(value);
  return JSON.stringify(printable(value, 40));
}

/** At most `maxChars` characters that cannot steer a terminal. */
export function printable(text: string, maxChars: number): string {
  const safe = text.slice(0, maxChars).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return text.length > maxChars ? `${safe}…` : safe;
}

/** One line for people: `a.jsonl:3: \`answer\` is empty. Give a text that is not blank.` */
export function badRowText({ file, line, field, problem, fix }: BadRow): string {
  return `${file}:${line}: ${field ? `\`${field}\`` : 'the line'} ${problem}. ${fix}`;
}

/** True where UTF-16 is broken: no such text can be written as UTF-8. */
export function loneSurrogate(text: string): boolean {
  return /\p{Cs}/u.test(text);
}
