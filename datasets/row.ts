// One data set row, already parsed, as a query; or the field at fault, the reason and the fix. Null counts as absent.
// docs/datasets.md has the layouts; prompt.ts reads the question, stated.ts the reference answer.

import { TASKS, type Query, type Task } from '../domain/query.ts';
import type { Stated } from './dataset.ts';
import { inputOutputOf } from './input-output.ts';
import { IDS, type RowObject } from './names.ts';
import { ALL_EXACT, type Inexact, numberText } from './number-text.ts';
import { fail, isObject, kindOf, loneSurrogate, notObject, RowError, shown, type Problem } from './problem.ts';
import { promptOf } from './prompt.ts';
import { statedOf } from './stated.ts';

/** `stated`: undefined if no text gives the reference answer (code). */
export type RowResult =
  | { readonly ok: true; readonly query: Query; readonly stated: Stated | undefined }
  | ({ readonly ok: false } & Problem);

const MAX_ID_BYTES = 1000;

/** `fallbackId` names a row without an id; `inexact`: the numbers that lost digits when the row was parsed. */
export function queryFromRow(row: unknown, fallbackId: string, inexact: Inexact = ALL_EXACT): RowResult {
  try {
    return parse(row, fallbackId, inexact);
  } catch (error) {
    if (error instanceof RowError) return { ok: false, ...error.problem };
    throw error;
  }
}

function parse(row: unknown, fallbackId: string, inexact: Inexact): RowResult {
  if (!isObject(row)) return { ok: false, ...notObject(row) };
  const queryId = idOf(row, inexact) ?? fallbackId;
  const prompt = promptOf(row);
  const task = taskOf(row);
  if (task === 'code') {
    const inputOutput = inputOutputOf(row['input_output'], inexact);
    const solutions = row['solutions'] == null ? [] : textsOf(statedOf(row, inexact));
    return { ok: true, query: { queryId, prompt, task, solutions, inputOutput }, stated: undefined };
  }
  const stated = statedOf(row, inexact);
  return { ok: true, query: { queryId, prompt, task, solutions: textsOf(stated) }, stated };
}

const textsOf = ({ solutions }: Stated): string[] => solutions.map(({ text }) => text);

/** The field with the row's id; undefined if its line number is the id. */
export function idFieldOf(row: unknown): (typeof IDS)[number] | undefined {
  return isObject(row) ? IDS.find((field) => Object.hasOwn(row, field) && row[field] != null) : undefined;
}

function idOf(row: RowObject, inexact: Inexact): string | undefined {
  const field = idFieldOf(row);
  if (!field) return undefined;
  const value = row[field];
  if (typeof value === 'number') return numberText(field, value, inexact);
  if (typeof value !== 'string')
    return fail(field, `is ${kindOf(value)}`, 'Give a text or a number, unique in the file.');
  if (/^[!-~]{1,100}$/.test(value) && !value.includes('..')) return value;
  if (value === '') fail(field, 'is empty', 'Give a text that is unique in the file, or leave the field out.');
  if (loneSurrogate(value)) fail(field, 'holds half a character (a lone surrogate)', 'Write whole characters.');
  if (/\p{Cc}/u.test(value)) {
    fail(field, 'holds a control character (such as NUL, a tab or a line break)', 'Use printable characters.');
  }
  if (value.split(/[/\\]/).includes('..'))
    fail(field, 'holds a `..` path segment', 'An id names a query, not a folder.');
  if (Buffer.byteLength(value) > MAX_ID_BYTES) {
    fail(field, `is ${Buffer.byteLength(value)} bytes long`, `Use at most ${MAX_ID_BYTES} bytes.`);
  }
  return value;
}

function taskOf(row: RowObject): Task {
  const value = row['task'] ?? 'math';
  const task = TASKS.find((known) => known === value);
  return task ?? fail('task', `is ${shown(value)}`, `Give one of: ${TASKS.join(', ')}; or leave it out for math.`);
}
