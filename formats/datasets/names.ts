// The field names of data sets. A name is exact; each is also accepted with a capital first letter, as in AIME, SVAMP and
// TheoremQA. Null counts as absent, because exports of tables fill every column.

import { failRow } from './row-fault.ts';

export type RowObject = Readonly<Record<string, unknown>>;

export interface Found {
  /** The field's name as written in the row. */
  readonly field: string;
  readonly value: unknown;
}

/** The present fields among these names, in this order. */
export function found(row: RowObject, names: readonly string[]): Found[] {
  const all: Found[] = [];
  for (const name of names) {
    for (const field of [name, name[0]!.toUpperCase() + name.slice(1)]) {
      if (Object.hasOwn(row, field) && row[field] != null) all.push({ field, value: row[field] });
    }
  }
  return all;
}

export const PROMPTS = ['prompt', 'messages', 'question', 'problem'] as const;

/** Fields with a reference answer, the deciding one first. MGSM's `answer` is prose beside its `answer_number`. */
export const ANSWER_FIELDS = ['answer_number', 'answer', 'final_answer', 'expected_answer', 'ground_truth'] as const;
export const WORKED = ['solutions', 'solution'] as const;

/** The first two are ours, then AIME's and MATH-500's; a row has one of them, or none. */
export const ID_FIELDS = ['query_id', 'id', 'ID', 'unique_id'] as const;

/** By what the authors of a data set group its rows. */
export const CATEGORIES = ['category', 'subject', 'subdomain', 'topic', 'level', 'difficulty'] as const;

/** Values of the line's numbers that lost digits. */
export type Inexact = ReadonlySet<number>;
export const ALL_EXACT: Inexact = new Set();

export function numberText(field: string, value: number, inexact: Inexact): string {
  const large = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  if (large) return failRow(field, 'is a number too large to be exact', 'Write it as text, in quotes.');
  if (inexact.has(value))
    return failRow(field, 'is a number with too many digits to be exact', 'Write it as text, in quotes.');
  return plainDecimal(value);
}

/** `1e-7` as `0.0000001`. */
function plainDecimal(value: number): string {
  const text = String(value);
  const found = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text);
  if (!found) return text;
  const [, sign = '', first = '', rest = '', power = ''] = found;
  return `${sign}0.${'0'.repeat(Number(power) - 1)}${first}${rest}`;
}
