// Multiple choice: the choices of a row in the shapes of benchmarks, as texts with labels. A field that holds choices in a
// shape that is not read here makes a bad row: a question without its choices cannot be answered. stated.ts reads
// which one is right.

import { createHash } from 'node:crypto';
import { LETTERS, listedChoices } from '../../packages/judge/index.ts';
import type { RowObject } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow, kindText, RowError, checkedText } from './row-fault.ts';

export interface Choices {
  /** The field, or the first of the columns. */
  readonly field: string;
  readonly texts: readonly string[];
  /** The data set's name for each choice: its letter, or ARC's label. */
  readonly labels: readonly string[];
  /** The right one, where the shape itself says it. */
  readonly right?: { readonly field: string; readonly index: number };
  /** The data set has them as numbers: a number as the answer may be one of them. */
  readonly numbers: boolean;
  /** Columns `option1`, and KMMLU's `A`: a number as the answer may count from 0 or from 1. */
  readonly eitherCount?: true;
}

interface Item {
  readonly at: string;
  readonly label: string;
  readonly value: unknown;
  readonly isRight?: boolean;
}

const FIELDS = ['choices', 'options', 'endings', 'mc1_targets'] as const;
const FIX = 'Give a list of texts, such as ["800", "820"], or an object such as {"A": "800", "B": "820"}.';

/** A row of a user's own environment or program may have anything in a field of such a name. */
export type Unread = 'refused' | 'ignored';

/** Undefined if the row has none. */
export function choicesOf(row: RowObject, unread: Unread = 'refused'): Choices | undefined {
  try {
    return choicesIn(row);
  } catch (error) {
    if (unread === 'ignored' && error instanceof RowError) return undefined;
    throw error;
  }
}

function choicesIn(row: RowObject): Choices | undefined {
  for (const [field, value, name] of fieldsOf(row)) {
    const items = itemsIn(field, value);
    if (items && items.length > 0)
      return name === 'mc1_targets' ? inOrderOfContent(choicesFrom(field, items)) : choicesFrom(field, items);
  }
  return inColumns(row) ?? inMarkedColumns(row);
}

/** Names in any case; and OpenBookQA's `question`, an object with its choices. */
function fieldsOf(row: RowObject): (readonly [field: string, value: unknown, name: string])[] {
  const own = FIELDS.flatMap((name) =>
    Object.keys(row).flatMap((field) => (field.toLowerCase() === name ? [[field, row[field], name] as const] : [])),
  );
  const { question } = row;
  return isObject(question) ? [...own, ['question.choices', question['choices'], 'choices']] : own;
}

const isEmpty = (value: unknown): boolean =>
  value == null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.every(isEmpty)) ||
  (isObject(value) && Object.values(value).every(isEmpty));

export function itemsIn(field: string, value: unknown): Item[] | undefined {
  if (isEmpty(value)) return undefined;
  if (typeof value === 'string') return itemsInText(field, value);
  if (Array.isArray(value)) return value.map((item: unknown, i) => itemOf(`${field}[${i}]`, LETTERS[i] ?? '', item));
  if (!isObject(value)) return failRow(field, `is ${kindText(value)}`, FIX);
  const texts = value['text'] ?? value['texts'] ?? value['choices'];
  if (Array.isArray(texts)) return itemsWithLabels(field, texts, value['label'] ?? value['labels']);
  const entries = Object.entries(value);
  if (!entries.every(([key]) => isLabel(key))) return failRow(field, 'is an object whose keys are no letters', FIX);
  return entries.map(([label, one]) => ({ at: `${field}.${label}`, label, value: one }));
}

const isLabel = (text: string): boolean => /^(?:[A-Za-z]|\d{1,2})$/.test(text);

/** MathQA: "a ) 800 , b ) 820"; or the JSON of a list or an object. */
function itemsInText(field: string, text: string): Item[] | undefined {
  if (/^\s*[[{]/.test(text)) {
    try {
      return itemsIn(field, JSON.parse(text));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return failRow(field, 'is a text that is no JSON', FIX);
    }
  }
  const listed = listedChoices(text);
  if (listed.length === 0) return failRow(field, 'is a text, not a list', FIX);
  return listed.map((value, i) => ({ at: field, label: LETTERS[i]!, value }));
}

/** Hugging Face has `{text: […], label: […]}`; TruthfulQA's labels are 1 for the right one and 0 for the others. */
function itemsWithLabels(field: string, texts: readonly unknown[], labels: unknown): Item[] {
  const given = Array.isArray(labels) ? (labels as readonly unknown[]) : undefined;
  if (given && given.length !== texts.length)
    failRow(`${field}.label`, 'does not give each choice a label of its own', `Give ${texts.length} different labels.`);
  const marks = given?.every((one) => one === 0 || one === 1) && given.filter((one) => one === 1).length === 1;
  return texts.map((value, i) => {
    const item = { at: `${field}.text[${i}]`, label: LETTERS[i] ?? '', value };
    if (!given || (value == null && given[i] == null)) return item;
    return marks ? { ...item, isRight: given[i] === 1 } : { ...item, label: String(given[i]) };
  });
}

const NAMES = ['label', 'key', 'id', 'letter'] as const;
const TEXTS = ['text', 'content', 'value', 'option', 'choice', 'answer'] as const;
const MARKS = ['is_correct', 'isCorrect', 'correct'] as const;

/** `"800"`, `{"A": "800"}`, `{"label": "A", "text": "800"}`. */
function itemOf(at: string, letter: string, item: unknown): Item {
  if (!isObject(item)) return { at, label: letter, value: item };
  const [only, ...more] = Object.entries(item);
  if (only && more.length === 0 && isLabel(only[0])) return { at, label: only[0], value: only[1] };
  const text = TEXTS.find((name) => item[name] != null);
  if (text === undefined) return failRow(at, 'has no text', 'Give such as {"label": "A", "text": "800"}.');
  const name = NAMES.find((one) => typeof item[one] === 'string' || typeof item[one] === 'number');
  const mark = MARKS.find((one) => typeof item[one] === 'boolean');
  const label = name === undefined ? letter : String(item[name]);
  return { at: `${at}.${text}`, label, value: item[text], ...(mark && { isRight: item[mark] === true }) };
}

export function choicesFrom(field: string, all: readonly Item[]): Choices {
  // Tables pad lists to one length.
  const items = all.slice(0, all.findLastIndex(({ value }) => !isEmpty(value)) + 1);
  const given = items.map(({ at, value }) => {
    if (typeof value !== 'string' && typeof value !== 'number')
      return failRow(
        at,
        value == null ? 'is missing between others' : `is ${kindText(value)}`,
        'Give each choice as a text.',
      );
    return checkedText(at, String(value)).trim();
  });
  if (given.length < 2) failRow(field, 'has one choice alone', 'Give all of them, or leave it out.');
  if (given.length > LETTERS.length)
    failRow(field, `has ${given.length} choices`, `A question has at most ${LETTERS.length}.`);
  const labels = items.map(({ label }) => label);
  if (new Set(labels).size !== labels.length)
    failRow(
      `${field}.label`,
      'does not give each choice a label of its own',
      `Give ${labels.length} different labels.`,
    );
  const right = items.flatMap(({ at, isRight }, index) => (isRight ? [{ field: at, index }] : []));
  if (right.length > 1) failRow(field, `marks ${right.length} choices as right`, 'Mark one of them.');
  const numbers = items.every(({ value }) => typeof value === 'number');
  return { field, texts: withoutLetters(given), labels, numbers, ...(right[0] && { right: right[0] }) };
}

/** AQuA and AGIEval write the letter into the choice: `(A)21`, `A)21`. */
function withoutLetters(texts: readonly string[]): readonly string[] {
  const bare = texts.map((text, i) => bareOf(text, LETTERS[i]!));
  return bare.every((text) => text !== undefined && text !== '') ? (bare as string[]) : texts;
}

/** Undefined if the text does not begin with its letter. */
export function bareOf(text: string, letter: string): string | undefined {
  const mark = [`(${letter})`, `${letter})`, `${letter}. `, `${letter}: `].find((one) => text.startsWith(one));
  return mark === undefined ? undefined : text.slice(mark.length).trim();
}

/** `A` to `D`; `option_a`, `Option A`, `opa`, `choice1`. */
const COLUMN = /^(|(?:options?|choices?|opt|op|ending)[ _-]?)([A-Z]|[a-z]|\d{1,2})$/i;

function inColumns(row: RowObject): Choices | undefined {
  const groups = new Map<string, Map<string, string>>();
  for (const name of Object.keys(row)) {
    const [, prefix = '', label = ''] = COLUMN.exec(name) ?? [];
    if (label === '' || (prefix === '' && /\d/.test(label)) || isEmpty(row[name])) continue;
    const kind = `${prefix.toLowerCase()}${/\d/.test(label) ? '0' : label === label.toLowerCase() ? 'a' : 'A'}`;
    const columns = groups.get(kind) ?? new Map<string, string>();
    groups.set(kind, columns.set(label, name));
  }
  for (const [kind, columns] of groups) {
    // Small letters name numbers of a problem as well.
    if (columns.size < 2 || (kind === 'a' && !namesOneOf(row, columns))) continue;
    const labels = [...columns.keys()].sort((a, b) => (kind.endsWith('0') ? Number(a) - Number(b) : a < b ? -1 : 1));
    const first = kind.endsWith('0') ? Number(labels[0]) : 0;
    const expected = labels.map((_, i) => (kind.endsWith('0') ? String(first + i) : LETTERS[i]!));
    const missing = expected.findIndex((label, i) => label !== labels[i]!.toUpperCase());
    if (first > 1 || missing === 0) continue;
    if (missing > 0)
      failRow(columns.get(labels[missing]!)!, 'is there without the choice before it', 'Give all of them.');
    const items = labels.map((label) => ({ at: columns.get(label)!, label, value: row[columns.get(label)!] }));
    const choices = choicesFrom(items[0]!.at, items);
    return first === 1 || kind === 'A' ? { ...choices, eitherCount: true } : choices;
  }
  return undefined;
}

const namesOneOf = (row: RowObject, columns: ReadonlyMap<string, string>): boolean =>
  ['answer', 'Answer', 'answerKey', 'correct', 'label'].some((field) => {
    const value = row[field];
    return typeof value === 'string' && (columns.has(value.trim()) || columns.has(value.trim().toLowerCase()));
  });

const RIGHT = /^correct[ _]answer$/i;
const WRONG = /^(?:(?:incorrect|wrong)[ _]answer|distractor)[ _]?\d{1,2}$/i;
const WRONGS = /^(?:(?:incorrect|wrong)[ _]answers|distractors)$/i;

/** GPQA, SciQ: the right one in a column of its own, the wrong ones in others. */
function inMarkedColumns(row: RowObject): Choices | undefined {
  const names = Object.keys(row).filter((name) => !isEmpty(row[name]));
  const right = names.find((name) => RIGHT.test(name));
  const wrong = names.flatMap((at) => {
    const list = WRONGS.test(at) ? row[at] : undefined;
    if (Array.isArray(list)) return list.map((value: unknown, i) => ({ at: `${at}[${i}]`, value }));
    return WRONG.test(at) ? [{ at, value: row[at] }] : [];
  });
  if (right === undefined || wrong.length === 0) return undefined;
  const items = [{ at: right, value: row[right] }, ...wrong].map((one, i) => ({
    ...{ ...one, label: LETTERS[i] ?? '' },
    isRight: i === 0,
  }));
  return inOrderOfContent(choicesFrom(right, items));
}

/** The right one comes first in the file: the order follows from the texts, so that it says nothing. */
function inOrderOfContent(choices: Choices): Choices {
  const { texts, labels, right } = choices;
  if (new Set(texts).size !== texts.length) failRow(choices.field, 'has one text twice', 'Give different choices.');
  const all = texts.toSorted().join('\n');
  const key = (text: string): string => createHash('sha256').update(`${all}\n\n${text}`).digest('hex');
  const sorted = texts.map((text, from) => ({ text, from, by: key(text) })).sort((a, b) => (a.by < b.by ? -1 : 1));
  const index = sorted.findIndex(({ from }) => from === right?.index);
  return { ...choices, texts: sorted.map(({ text }) => text), labels, ...(right && { right: { ...right, index } }) };
}
