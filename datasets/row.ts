// One data set row, already JSON, as a query: or which field is wrong, why, and what would be right.
// Null counts as absent, as exports of tables fill every column.

import { TASKS, type Prompt, type Query, type Task } from '../domain/query.ts';
import { inputOutputOf } from './input-output.ts';
import { isObject, kindOf, loneSurrogate, shown, wrong, type Problem } from './problem.ts';

export type RowResult = { readonly ok: true; readonly query: Query } | ({ readonly ok: false } & Problem);

export const FROM_ARRAY = ' A file that is one JSON array becomes lines with: jq -c ".[]".';

const MAX_ID_BYTES = 1000;
/** A million tokens and more: no event loop waits for one of this length, and longer ones fit no model. */
export const MAX_PROMPT_CHARS = 4 * 2 ** 20;
const PROMPT_FIELDS = ['prompt', 'messages', 'question', 'problem'] as const;

/** `fallbackId` names a row that has no id of its own. */
export function queryFromRow(row: unknown, fallbackId: string): RowResult {
  try {
    return { ok: true, query: parse(row, fallbackId) };
  } catch (error) {
    if (error instanceof RowError) return { ok: false, ...error.problem };
    throw error;
  }
}

function parse(row: unknown, fallbackId: string): Query {
  if (!isObject(row)) {
    const hint = Array.isArray(row) ? FROM_ARRAY : '';
    fail(null, `is ${kindOf(row)}, not an object`, `Write one JSON object per line.${hint}`);
  }
  const queryId = idOf(row) ?? fallbackId;
  const prompt = promptOf(row);
  const task = taskOf(row);
  if (task !== 'code') return { queryId, prompt, task, solutions: solutionsOf(row) };
  const inputOutput = inputOutputOf(row['input_output']);
  if ('problem' in inputOutput) throw new RowError(inputOutput);
  return { queryId, prompt, task, solutions: row['solutions'] == null ? [] : solutionsOf(row), inputOutput };
}

type Row = Readonly<Record<string, unknown>>;

/** The field that gives a row its id; undefined when its line number does. */
export function idFieldOf(row: unknown): 'query_id' | 'id' | undefined {
  if (!isObject(row)) return undefined;
  return row['query_id'] != null ? 'query_id' : row['id'] != null ? 'id' : undefined;
}

function idOf(row: Row): string | undefined {
  const field = idFieldOf(row);
  if (!field) return undefined;
  const value = row[field];
  if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      fail(field, 'is a number too large to be exact', 'Write it as text, in quotes.');
    }
    return String(value);
  }
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

function promptOf(row: Row): Prompt {
  const given = PROMPT_FIELDS.filter((field) => row[field] != null);
  const [field, second] = given;
  if (!field) {
    return fail('prompt', 'is missing', 'Give one of: prompt, messages, question, problem.');
  }
  if (second) fail(second, `stands beside \`${field}\``, `Keep one of: ${given.join(', ')}.`);
  if (field === 'messages') {
    const messages = messagesOf(row[field]);
    mustBePrompt(
      field,
      messages.reduce((sum, { content }) => sum + content.length, 0),
    );
    return { kind: 'messages', messages };
  }
  const text = textOf(field, row[field]);
  mustBePrompt(field, text.length);
  return field === 'prompt'
    ? { kind: 'text', text }
    : { kind: 'messages', messages: [{ role: 'user', content: text }] };
}

function mustBePrompt(field: string, chars: number): void {
  if (chars <= MAX_PROMPT_CHARS) return;
  fail(field, `has ${chars} characters`, `A prompt has at most ${MAX_PROMPT_CHARS}; which model could read it?`);
}

function messagesOf(value: unknown) {
  const example = 'Give a list such as [{"role": "user", "content": "1 + 1 = ?"}].';
  if (!Array.isArray(value)) return fail('messages', `is ${kindOf(value)}, not a list`, example);
  if (value.length === 0) fail('messages', 'is an empty list', example);
  return value.map((message: unknown, i) => {
    const field = `messages[${i}]`;
    if (!isObject(message)) return fail(field, `is ${kindOf(message)}, not an object`, example);
    const { role, content } = message;
    if (typeof role !== 'string' || role === '')
      return fail(`${field}.role`, `is ${kindOf(role)}`, 'Give system, user or assistant.');
    if (typeof content !== 'string') return fail(`${field}.content`, `is ${kindOf(content)}`, 'Give a text.');
    if (loneSurrogate(content))
      fail(`${field}.content`, 'holds half a character (a lone surrogate)', 'Write whole characters.');
    return { role, content };
  });
}

function taskOf(row: Row): Task {
  const value = row['task'] ?? 'math';
  const task = TASKS.find((known) => known === value);
  return task ?? fail('task', `is ${shown(value)}`, `Give one of: ${TASKS.join(', ')}; or leave it out for math.`);
}

function solutionsOf(row: Row): string[] {
  const { solutions } = row;
  if (solutions == null) {
    const fields = ['answer', 'solution'].filter((field) => row[field] != null);
    if (fields.length === 0) {
      fail(
        'solutions',
        'is missing',
        'Give `solutions` (a list of texts, any of which is right), or `answer`, or `solution`.',
      );
    }
    return [...new Set(fields.map((field) => solutionOf(field, row[field])))];
  }
  if (!Array.isArray(solutions))
    return fail('solutions', `is ${kindOf(solutions)}, not a list`, 'Give a list of texts, such as ["42"].');
  if (solutions.length === 0) fail('solutions', 'is an empty list', 'Give at least one text that is right.');
  return solutions.map((solution: unknown, i) => solutionOf(`solutions[${i}]`, solution));
}

function solutionOf(field: string, value: unknown): string {
  if (typeof value !== 'number') return textOf(field, value);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    fail(field, 'is a number too large to be exact', 'Write it as text, in quotes.');
  }
  return String(value);
}

function textOf(field: string, value: unknown): string {
  if (typeof value !== 'string') return fail(field, `is ${kindOf(value)}, not a text`, 'Give a text, in quotes.');
  if (value.trim() === '') fail(field, 'is empty', 'Give a text that is not blank.');
  if (loneSurrogate(value)) fail(field, 'holds half a character (a lone surrogate)', 'Write whole characters.');
  return value;
}

class RowError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.problem);
    this.problem = problem;
  }
}

function fail(field: string | null, problem: string, fix: string): never {
  throw new RowError(wrong(field, problem, fix));
}
