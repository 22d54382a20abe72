// Multiple choice, as in MMLU, MMLU-Pro, ARC and AQuA: a list of choices, and the right one by index from 0, by letter or
// by its text. If two readings differ, the row is refused.

import type { RowObject } from './names.ts';
import { fail, isObject, shown } from './problem.ts';

export interface Choices {
  readonly field: string;
  readonly texts: readonly string[];
  /** The data set's name for each choice: its letter, or ARC's label. */
  readonly labels: readonly string[];
}

const LETTERS = 'ABCDEFGHIJ';
const NAMING = ['answer', 'Answer', 'answerKey', 'answer_index', 'label', 'correct'] as const;

/** Undefined if the row has none. */
export function choicesOf(row: RowObject): Choices | undefined {
  const field = row['choices'] != null ? 'choices' : 'options';
  const given = row[field];
  const list = isObject(given) ? given['text'] : given;
  if (typeof list === 'string' && list.trim() !== '' && row['correct'] != null)
    return fail(field, 'is a text, not a list', 'Give the choices as a list, such as ["800", "820"].');
  if (!Array.isArray(list) || list.length < 2) return undefined;
  if (!list.every((item) => typeof item === 'string' || typeof item === 'number')) return undefined;
  if (list.length > LETTERS.length)
    return fail(field, `has ${list.length} choices`, `A question has at most ${LETTERS.length}.`);
  const own = isObject(given) && Array.isArray(given['label']) ? given['label'].map(String) : undefined;
  if (own && (own.length !== list.length || new Set(own).size !== own.length))
    fail(`${field}.label`, 'does not give each choice a label of its own', `Give ${list.length} different labels.`);
  const labels = own?.length === list.length ? own : [...LETTERS].slice(0, list.length);
  return { field, texts: list.map((item, i) => withoutLetter(String(item).trim(), i)), labels };
}

/** AQuA and AGIEval write the letter into the choice: `(A)21`, `A)21`. */
function withoutLetter(text: string, i: number): string {
  const letter = LETTERS[i]!;
  for (const mark of [`(${letter})`, `${letter})`, `${letter}. `])
    if (text.startsWith(mark)) return text.slice(mark.length).trim();
  return text;
}

/** The choices as they are appended to the question. */
export function listing({ texts }: Choices): string {
  return texts.map((text, i) => `(${LETTERS[i]}) ${text}`).join('\n');
}

export interface RightChoice {
  readonly field: string;
  /** `(B) 14`: both the letter and the text are right. */
  readonly solution: string;
}

/** Undefined if the row has no choices. */
export function rightChoice(row: RowObject): RightChoice | undefined {
  const choices = choicesOf(row);
  if (!choices) return undefined;
  let right: { readonly field: string; readonly index: number } | undefined;
  for (const field of NAMING) {
    const value = row[field];
    if (value == null) continue;
    const index = indexOf(choices, field, value);
    if (right && right.index !== index)
      fail(field, `names another choice than \`${right.field}\``, 'Make them agree, or leave one out.');
    right ??= { field, index };
  }
  if (!right)
    return fail(
      'answer',
      `is missing beside \`${choices.field}\``,
      'Give the index of the right one from 0, or its letter.',
    );
  const text = choices.texts[right.index]!;
  return { field: right.field, solution: `(${LETTERS[right.index]}) ${text}` };
}

function indexOf({ field: list, texts, labels }: Choices, field: string, value: unknown): number {
  const fix = `Give the index of one of the \`${list}\` from 0, its letter, or its text.`;
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0 && value < texts.length) return value;
    return fail(field, `is ${value}, and there are ${texts.length} choices`, fix);
  }
  if (typeof value !== 'string') return fail(field, 'names no choice', fix);
  const plain = value.trim().replace(/^\((.+)\)$/, '$1');
  const readings = new Set([labels.indexOf(plain), texts.indexOf(value.trim())]);
  // "2" may be the third choice, or the one whose text is 2.
  if (/^\d$/.test(plain) && !labels.includes(plain) && Number(plain) < texts.length) readings.add(Number(plain));
  readings.delete(-1);
  const [index] = readings;
  if (index === undefined) return fail(field, `is ${shown(value)}, which is none of the choices`, fix);
  if (readings.size > 1) return fail(field, `is ${shown(value)}, which may be two of the choices`, fix);
  return index;
}
