// The reference answer of a row. One field decides: an answer if there is one, else the right one of its choices, by letter, by
// label, by index from 0 or by its text, else the worked solutions. The other fields must not disagree; examine.ts checks that
// when the solutions are read.

import type { Stated, Statement } from './dataset.ts';
import { ANSWER_FIELDS, found, WORKED, type Found, type RowObject, type Inexact, numberText } from './names.ts';
import { type Unread, bareOf, type Choices, choicesOf } from './choices.ts';
import { nearText } from './near-layout.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow, kindText, shown, checkedText } from './row-fault.ts';
import { LETTERS } from '../../packages/judge/index.ts';
import { statedChoice } from './listing.ts';

const NOTHING_RIGHT =
  'Give `answer` (a text, a number, or a list of which any is right), or `solution`, or `solutions`: rename the field that has it.';
/** Null in this row, and not in others. */
const ANSWERS = new RegExp(`^(?:${[...ANSWER_FIELDS, ...WORKED].join('|')})$`, 'i');
const IN_VERL =
  'Give it as a text, or a list of which any is right: without one a row is for a reward model, not for a judge.';

/** `without`: a field that has another meaning here. */
export function statedOf(row: RowObject, inexact: Inexact, without?: 'answer', unread?: Unread): Stated {
  refuseUnjudged(row);
  const choice = without ? undefined : rightChoice(row, unread);
  if (choice) refuseUnsound(row, 'error_type', 'ok');
  if (choice) return { solutions: [{ field: choice.field, text: choice.solution }], beside: [] };
  const fields = [
    ...found(row, ANSWER_FIELDS).filter(({ field }) => field.toLowerCase() !== without),
    ...ofRewardModel(row),
    ...found(row, WORKED),
  ];
  const stated = fields.filter((one) => !isNotFound(one));
  const [first, ...others] = stated;
  if (!first) {
    const [unsaid] = fields;
    if (unsaid) failRow(unsaid.field, `is ${shown(unsaid.value)}: no answer was found`, NOTHING_RIGHT);
    if (isObject(row['reward_model'])) return failRow('reward_model.ground_truth', 'is missing', IN_VERL);
    const near = Object.keys(row).some((name) => ANSWERS.test(name)) ? '' : `${nearText(row)} `;
    return failRow(without ? 'solutions' : 'answer', 'is missing', `${near}${NOTHING_RIGHT}`);
  }
  return {
    solutions: decided(row, first, inexact),
    beside: others.flatMap((other) => saidBeside(row, other, inexact)),
  };
}

/** A field of the row is there to say what is right. */
export const states = (row: RowObject): boolean =>
  found(row, ANSWER_FIELDS).length + found(row, WORKED).length + ofRewardModel(row).length > 0 ||
  rightChoice(row, 'ignored') !== undefined;

/** verl: `{style: "rule", ground_truth}`. */
function ofRewardModel(row: RowObject): Found[] {
  const model = row['reward_model'];
  if (!isObject(model)) return [];
  return found(model, ['ground_truth']).map(({ value }) => ({ field: 'reward_model.ground_truth', value }));
}

/** NuminaMath's value for a solution whose answer nobody extracted. */
const isNotFound = ({ value }: Found): boolean => value === 'notfound';

function decided(row: RowObject, { field, value }: Found, inexact: Inexact): Statement[] {
  if (value === 'proof')
    return failRow(field, 'is "proof": the row asks for a proof, and none is judged here', 'Leave the row out.');
  const list = field.endsWith('ground_truth') ? listInText(value) : value;
  if (!Array.isArray(list)) {
    if (field === 'solutions')
      failRow(field, `is ${kindText(list)}, not a list`, 'Give a list of texts, such as ["42"].');
    return [{ field, text: oneText(row, field, list, inexact) }];
  }
  if (list.length === 0) failRow(field, 'is an empty list', 'Give at least one text that is right.');
  const all = list.map((item: unknown, i) => {
    const at = `${field}[${i}]`;
    return { field: at, text: oneText(row, at, item, inexact) };
  });
  // OlympiadBench: the parts of one answer, not several alternatives.
  if (row['is_multiple_answer'] === true && field === 'final_answer' && all.length > 1)
    return [{ field, text: all.map(({ text }) => text).join(', ') }];
  return all;
}

/** Skywork-OR1 stores a list of answers as JSON in a text: `["\\frac{1}{2}"]`. */
function listInText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\[\s*"/.test(value)) return value;
  return isJson(value) ? JSON.parse(value) : value;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function oneText(row: RowObject, field: string, value: unknown, inexact: Inexact): string {
  if (typeof value === 'number') return numberText(field, value, inexact);
  const text = checkedText(field, value);
  if (OBJECT.test(text) && isJson(text))
    failRow(
      field,
      'is JSON of an object, and no answer',
      'Give the answer as a text; rules of your own need --environment.',
    );
  const control = CONTROL.exec(text)?.[0];
  if (control !== undefined) {
    const lost = { '\b': '\\boxed', '\f': '\\frac' }[control];
    failRow(
      field,
      'holds a control character',
      lost ? `In JSON a backslash is written twice: ${lost.replace('\\', '\\\\')}, not ${lost}.` : 'Leave it out.',
    );
  }
  // ASDiv writes the unit after the number: `9 (apples)`.
  const asdiv = 'formula' in row && 'solution_type' in row ? /^\s*([-\d.,/: %]+?)\s*\([^()]*\)\s*$/.exec(text) : null;
  return asdiv?.[1] ?? text;
}

/** RLVR-IFEval's rule, a function with its arguments: `{"func_name": "validate_lowercase"}`. */
const OBJECT = /^\s*(?:\[\s*)?\{\s*"/;

/** All control characters except tabs and line ends. */
const CONTROL = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Texts and numbers; any other value under such a name has an unknown meaning. */
function saidBeside(row: RowObject, found: Found, inexact: Inexact): Statement[] {
  const { field, value } = found;
  if (field === 'solutions') return decided(row, found, inexact);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((item, i) => {
    if (typeof item !== 'string' && typeof item !== 'number') return [];
    return [{ field: Array.isArray(value) ? `${field}[${i}]` : field, text: String(item) }];
  });
}

/** Marks of the data set's authors that a row cannot be judged by its value alone. */
function refuseUnjudged(row: RowObject): void {
  for (const field of ['problem_is_valid', 'solution_is_valid']) refuseUnsound(row, field, 'Yes');
  if (row['final_answer'] == null) return;
  if (row['answer_type'] === 'Need_human_evaluate' || row['Need_human_evaluate'] === true)
    failRow('answer_type', 'is "Need_human_evaluate": no rule judges it', 'Leave the row out.');
  const { error } = row;
  if (error != null && error !== '' && error !== 0)
    failRow('error', `is ${shown(String(error))}: a tolerance, and none is judged here`, 'Leave the row out.');
}

/** NuminaMath's and MMLU-Redux's own findings about a question and its answer. */
function refuseUnsound(row: RowObject, field: string, sound: string): void {
  const value = row[field];
  if (value == null || value === '' || value === sound || value === true) return;
  failRow(field, `is ${shown(String(value))}`, `Leave the row out, or mend it and write "${sound}".`);
}

const NAMING = [
  ...ANSWER_FIELDS,
  ...['answerKey', 'answer_key', 'answer_index', 'answer_idx', 'answer_letter', 'answer_label'],
  ...['correct_answer', 'correct_option', 'correct_choice', 'correct_index', 'gold_index', 'cop'],
];
/** They have other meanings too: a value that names no choice is passed over, where another field names one. */
const LOOSE = ['label', 'correct', 'gold', 'target'];

interface RightChoice {
  readonly field: string;
  /** `(B) 14`: both the letter and the text are right. */
  readonly solution: string;
}

/** Fields of this name say which choice is right. */
export const isNaming = (field: string): boolean =>
  [...NAMING, ...LOOSE].some((name) => found({ [field]: true }, [name]).length > 0);

/** The 0-based place of the right one. */
export const placeOfRight = (row: RowObject, choices: Choices): number => rightOf(row, choices).index;

const rightOf = (row: RowObject, choices: Choices) => choices.right ?? named(row, choices);

/** Undefined if the row has no choices. */
function rightChoice(row: RowObject, unread?: Unread): RightChoice | undefined {
  const choices = choicesOf(row, unread);
  if (!choices) return undefined;
  const { field, index } = rightOf(row, choices);
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
