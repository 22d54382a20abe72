// The fault of a row: its field, what is wrong with it, and the fix; and how values are shown in messages.

import { short } from '../../domain/text/foreign-text.ts';
import type { BadRow } from './dataset.ts';

export interface RowFault {
  /** Null if the whole row is at fault. */
  readonly field: string | null;
  readonly problem: string;
  readonly fix: string;
}

export function rowFault(field: string | null, problem: string, fix: string): RowFault {
  return { field, problem, fix };
}

/** `null`, `a list`, `a number`: for messages. */
export function kindText(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (value instanceof Date) return 'a date';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Thrown while a row is read, caught by the reader's entry point. */
export class RowError extends Error {
  readonly fault: RowFault;
  constructor(fault: RowFault) {
    super(fault.problem);
    this.fault = fault;
  }
}

export function failRow(field: string | null, problem: string, fix: string): never {
  throw new RowError(rowFault(field, problem, fix));
}

/** A value formatted for a message: short, and safe on a terminal. */
export function shown(value: unknown, maxChars = 40): string {
  if (typeof value !== 'string') return kindText(value);
  return JSON.stringify(short(value, maxChars));
}

export const LINE_SHAPE = 'Write one JSON object per line.';
export const FROM_ARRAY = ' A file that is one JSON array becomes lines with: jq -c ".[]".';

/** The fault of a line whose JSON is not an object. */
export function notObject(value: unknown): RowFault {
  const hint = Array.isArray(value) ? FROM_ARRAY : '';
  return rowFault(null, `is ${kindText(value)}, not an object`, `${LINE_SHAPE}${hint}`);
}

/** A text that is not blank and can be stored and sent: no lone surrogates and no NUL. */
export function checkedText(field: string, value: unknown, blank: 'refused' | 'allowed' = 'refused'): string {
  if (typeof value !== 'string') return failRow(field, `is ${kindText(value)}, not a text`, 'Give a text, in quotes.');
  if (blank === 'refused' && value.trim() === '') failRow(field, 'is empty', 'Give a text that is not blank.');
  if (loneSurrogate(value)) failRow(field, 'holds half a character (a lone surrogate)', 'Write whole characters.');
  if (value.includes('\u0000')) failRow(field, 'holds a NUL character', 'Leave it out.');
  const lost = LOST_BACKSLASH.exec(value)?.[0];
  if (lost !== undefined) {
    const command = `\\${ESCAPES[lost[0]!]}${lost.slice(1)}`;
    failRow(
      field,
      `holds a control character where ${command} was meant`,
      `In JSON a backslash is written twice: \\${command}.`,
    );
  }
  return value;
}

/** JSON's escapes: `"\text"` with one backslash is a tab and `ext`. The letters behind it begin no word of a language. */
const ESCAPES: Readonly<Record<string, string>> = { '\t': 't', '\n': 'n', '\r': 'r', '\b': 'b', '\f': 'f' };
const LOST_BACKSLASH =
  /\t(?:ext(?:bf|it|rm)?\{|ext\b|imes\b|heta\b|frac\b|riangle\b|herefore\b|ilde\b|au\b|an(?=[({\\^]))|\n(?:eq|abla|otin)\b|\r(?:ight|ho|angle|ceil|floor)(?![a-z])|\u0008(?:oxed|inom|eta|ar|egin|ig|mod)\b|\f(?:rac|orall|loor)\b/;

/** One line for people: `a.jsonl:3: \`answer\` is empty. Give a text that is not blank.` */
export function badRowText({ file, line, field, problem, fix }: BadRow): string {
  return `${file}:${line}: ${field ? `\`${field}\`` : 'the line'} ${problem}. ${fix}`;
}

/** True if UTF-16 is broken: such a text cannot be written as UTF-8. */
export function loneSurrogate(text: string): boolean {
  return /\p{Cs}/u.test(text);
}
