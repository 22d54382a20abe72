// The right one of a row's choices: by letter, by label, by index from 0 or by its text. A row of which fields, or readings of
// one field, differ is refused.

import { LETTERS, statedChoice } from '../../domain/text/choices.ts';
import { bareOf, type Choices, choicesOf, type Unread } from './choices.ts';
import { ANSWER_FIELDS, found, type Found, type RowObject } from './names.ts';
import { failRow, isObject, shown } from './problem.ts';

const NAMING = [
  ...ANSWER_FIELDS,
  ...['answerKey', 'answer_key', 'answer_index', 'answer_idx', 'answer_letter', 'answer_label'],
  ...['correct_answer', 'correct_option', 'correct_choice', 'correct_index', 'gold_index', 'cop'],
];
/** They have other meanings too: a value that names no choice is passed over, where another field names one. */
const LOOSE = ['label', 'correct', 'gold', 'target'];

export interface RightChoice {
  readonly field: string;
  /** `(B) 14`: both the letter and the text are right. */
  readonly solution: string;
}

/** Undefined if the row has no choices. */
export function rightChoice(row: RowObject, unread?: Unread): RightChoice | undefined {
  const choices = choicesOf(row, unread);
  if (!choices) return undefined;
  const { field, index } = choices.right ?? named(row, choices);
  return { field, solution: statedChoice(index, choices.texts[index]!) };
}

function named(row: RowObject, choices: Choices): { readonly field: string; readonly index: number } {
  const model = row['reward_model'];
  const truth = isObject(model) ? found(model, ['ground_truth']) : [];
  const strict = [
    ...found(row, NAMING).filter(({ field }) => field !== choices.field),
    ...truth.map(({ value }) => ({ field: 'reward_model.ground_truth', value })),
  ];
  const loose = found(row, LOOSE);
  let first: Found | undefined;
  let left: readonly number[] | undefined;
  for (const one of [...strict, ...loose]) {
    const readings = readingsOf(choices, one);
    if (readings.length === 0) {
      if (!loose.includes(one) || (one === loose.at(-1) && !first)) refuse(choices, one);
      continue;
    }
    const both = left?.filter((index) => readings.includes(index)) ?? readings;
    if (first && both.length === 0)
      failRow(one.field, `names another choice than \`${first.field}\``, 'Make them agree, or leave one out.');
    first ??= one;
    left = both;
  }
  if (!first || !left)
    return failRow(
      'answer',
      `is missing beside \`${choices.field}\``,
      'Give the index of the right one from 0, or its letter.',
    );
  if (left.length === 1) return { field: first.field, index: left[0]! };
  return failRow(first.field, `is ${said(first.value)}, which may be two of the choices`, fixOf(choices));
}

const fixOf = ({ field }: Choices): string =>
  `Give the letter of one of the \`${field}\`, its text, or its index from 0.`;
const said = (value: unknown): string => (typeof value === 'number' ? String(value) : shown(value));

function refuse(choices: Choices, { field, value }: Found): never {
  if (typeof value === 'number')
    failRow(field, `is ${value}, and there are ${choices.texts.length} choices`, fixOf(choices));
  if (typeof value !== 'string') failRow(field, 'names no choice', fixOf(choices));
  return failRow(field, `is ${shown(value)}, which is none of the choices`, fixOf(choices));
}

/** Each choice that the value may name. */
function readingsOf(choices: Choices, { field, value: given }: Found): number[] {
  const { texts, labels, eitherCount } = choices;
  const value = Array.isArray(given) && given.length === 1 ? (given[0] as unknown) : given;
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const text = String(value).trim();
  const plain = text.replace(/^\((.+)\)$/, '$1').replace(/^([A-Za-z])[.)]$/, '$1');
  const mayCount = /^\d{1,2}$/.test(plain) && Number(plain) <= texts.length;
  if (mayCount && (eitherCount || field.toLowerCase() === 'cop'))
    failRow(
      field,
      `is ${said(value)}, which may count from 0 or from 1`,
      choices.field === 'A' ? 'Give the letter.' : `Give the letter: A is \`${choices.field}\`.`,
    );
  const own = texts.flatMap((one, at) => (one === text ? [at] : []));
  const letters = [labels.indexOf(plain), byLetter(choices, plain), worded(texts, text)];
  // A number counts; a text of digits may be a label, and then it is one.
  const index =
    mayCount && Number(plain) < texts.length && (typeof value === 'number' || !labels.includes(plain))
      ? Number(plain)
      : -1;
  const isText = typeof value === 'string' || choices.numbers;
  return [...new Set([...letters, index, ...(isText ? own : [])])].filter((at) => at >= 0);
}

/** `b`, and a letter as it is shown where the data set has other labels. */
function byLetter({ texts, labels }: Choices, plain: string): number {
  if (labels.includes(plain) || !/^[A-Za-z]$/.test(plain) || texts.includes(plain)) return -1;
  const label = labels.findIndex((one) => one.toUpperCase() === plain.toUpperCase());
  const shownAt = LETTERS.indexOf(plain.toUpperCase());
  return label >= 0 ? label : labels.every((one) => /^\d/.test(one)) && shownAt < texts.length ? shownAt : -1;
}

/** `(B) Paris`. */
const worded = (texts: readonly string[], text: string): number =>
  texts.findIndex((own, i) => bareOf(text, LETTERS[i]!) === own);
