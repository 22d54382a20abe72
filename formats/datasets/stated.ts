// The reference answer of a row. One field decides: an answer if there is one, else the worked solutions. The other
// fields must not disagree; examine.ts checks that when the solutions are read.

import type { Stated, Statement } from './dataset.ts';
import { ANSWER_FIELDS, found, WORKED, type Found, type RowObject } from './names.ts';
import { type Inexact, numberText } from './number-text.ts';
import type { Unread } from './choices.ts';
import { failRow, isObject, kindText, shown, checkedText } from './problem.ts';
import { rightChoice } from './right-choice.ts';

const NOTHING_RIGHT =
  'Give `answer` (a text, a number, or a list of which any is right), or `solution`, or `solutions`: rename the field that has it.';
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
    return failRow(without ? 'solutions' : 'answer', 'is missing', NOTHING_RIGHT);
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
