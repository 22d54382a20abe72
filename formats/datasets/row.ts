// One data set row, already parsed, as a query; or the field at fault, the reason and the fix. Null counts as absent.
// docs/datasets.md has the layouts; prompt.ts reads the question, stated.ts the reference answer.

import { type EnvironmentRecord, isEnvironmentName } from '../../domain/rollout/environment.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { TASKS, type Prompt, type Query, type Task, type Wording } from '../../domain/query/query.ts';
import type { Unread } from './choices.ts';
import type { Stated } from './dataset.ts';
import { inputOutputOf } from './input-output.ts';
import { instructionsOf, isOfRules } from './instructions.ts';
import { ALL_EXACT, CATEGORIES, found, ID_FIELDS, type Inexact, numberText, type RowObject } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { firstWords } from '../../domain/text/foreign-text.ts';
import { failRow, kindText, loneSurrogate, notObject, RowError, shown, type RowFault } from './row-fault.ts';
import { programTestsOf } from './program-tests.ts';
import { textIn } from './prompt.ts';
import { statedOf, states } from './stated.ts';
import { templateKwargsOf } from './template-kwargs.ts';
import { refuseUnread } from './unread-choices.ts';
import { type Asker, OWN_QUESTIONS } from './wording.ts';
import { DatasetError } from '../../domain/errors/errors.ts';

/** `stated`: undefined if no text gives the reference answer (code). */
export type RowResult =
  | { readonly ok: true; readonly query: Query; readonly stated: Stated | undefined }
  | ({ readonly ok: false } & RowFault);

const MAX_ID_BYTES = 1000;

/** The environments of a run, as far as its rows depend on them: each has another name. */
type RowEnvironments = readonly Pick<EnvironmentRecord, 'name' | 'begins'>[];

/** How a run reads its rows. */
export interface RowReading {
  readonly environments?: RowEnvironments | undefined;
  readonly wording?: Wording | undefined;
  /** An agent's program gets the whole row: it needs neither question nor answer. */
  readonly forProgram?: boolean | undefined;
}

/** `fallbackId` names a row without an id; `inexact`: the numbers that lost digits when the row was parsed. */
export function queryFromRow(
  row: unknown,
  fallbackId: string,
  inexact: Inexact = ALL_EXACT,
  environments: RowEnvironments = [],
  asker: Asker = OWN_QUESTIONS,
  forProgram = false,
): RowResult {
  try {
    if (!isObject(row)) return { ok: false, ...notObject(row) };
    const arranged = asker.arranged(row);
    const read = parse(arranged, fallbackId, inexact, environments, asker, forProgram);
    if (!read.ok) return read;
    const chatTemplateKwargs = templateKwargsOf(row);
    const [title, categories] = [asker.titleOf(arranged), categoriesOf(arranged)];
    const facts = { ...(title && { title }), ...(categories && { categories }) };
    return { ...read, query: { ...read.query, ...facts, ...(chatTemplateKwargs && { chatTemplateKwargs }) } };
  } catch (error) {
    if (error instanceof RowError) return { ok: false, ...error.fault };
    throw error;
  }
}

function parse(
  row: RowObject,
  fallbackId: string,
  inexact: Inexact,
  environments: RowEnvironments,
  { asks, promptOf, loose }: Asker,
  forProgram: boolean,
): RowResult {
  const queryId = idOf(row, inexact) ?? fallbackId;
  const environment = environmentOf(row, environments);
  const unread: Unread = environment || forProgram ? 'ignored' : 'refused';
  if (environment) {
    const prompt = (environment.begins || forProgram) && !asks(row) ? NO_PROMPT : promptOf(row, unread);
    const own = { task: 'environment', solutions: [], environment: environment.name, row: asJson(row) } as const;
    return { ok: true, query: { queryId, prompt, ...own }, stated: undefined };
  }
  const hasAnswer = () => row['input_output'] != null || states(row);
  if (!forProgram && (row['task'] === 'code' || !hasAnswer())) {
    const tests = row['input_output'] == null ? programTestsOf(row, inexact) : undefined;
    if (tests)
      return {
        ok: true,
        query: { queryId, prompt: promptOf(row, unread), task: 'code', solutions: [], ...tests },
        stated: undefined,
      };
  }
  if (!forProgram && isOfRules(row) && !hasAnswer()) {
    const asked = { queryId, prompt: promptOf(row, unread), task: 'rules', solutions: [] } as const;
    return {
      ok: true,
      query: { ...asked, instructions: instructionsOf(row), ...(loose && { loose }) },
      stated: undefined,
    };
  }
  const prompt = forProgram && !asks(row) ? NO_PROMPT : promptOf(row, unread);
  const task = taskOf(row, forProgram);
  const whole = forProgram ? { row: asJson(row) } : {};
  if (forProgram && task !== 'code' && !states(row))
    return { ok: true, query: { queryId, prompt, task, solutions: [], ...whole }, stated: undefined };
  if (task === 'code') {
    const inputOutput = inputOutputOf(row['input_output'], inexact);
    const solutions = row['solutions'] == null ? [] : textsOf(statedOf(row, inexact));
    return { ok: true, query: { queryId, prompt, task, solutions, inputOutput, ...whole }, stated: undefined };
  }
  const stated = statedOf(row, inexact, undefined, unread);
  if (!forProgram) refuseUnread(row, textIn(prompt), textsOf(stated));
  return { ok: true, query: { queryId, prompt, task, solutions: textsOf(stated), ...whole }, stated };
}

/** The environment that a row names, or the only one of the run; undefined for a judge of Everturn's. */
function environmentOf(row: RowObject, environments: RowEnvironments): RowEnvironments[number] | undefined {
  const value = row['environment'];
  if (environments.length === 0) {
    if (typeof value === 'string' && isEnvironmentName(value) && !BUILT_IN.includes(value))
      failRow('environment', `is ${shown(value)}, and the run has no environment`, 'Give it with --environment.');
    return undefined;
  }
  const names = [...environments.map(({ name }) => name), ...BUILT_IN].join(', ');
  if (value == null) {
    if (environments.length === 1) return environments[0];
    failRow('environment', 'is missing, and the run has several', `Name one of: ${names}.`);
  }
  if (typeof value === 'string' && BUILT_IN.includes(value)) return undefined;
  const found = environments.find(({ name }) => name === value);
  return found ?? failRow('environment', `is ${shown(value)}`, `Name one of: ${names}.`);
}

const NO_PROMPT: Prompt = { kind: 'messages', messages: [] };

const BUILT_IN: readonly string[] = TASKS;

/** The row as JSON: a table's values may be others. */
function asJson(row: RowObject): JsonObject {
  const text = JSON.stringify(row);
  if (text.length > MAX_ROW_CHARS)
    failRow(null, `has ${text.length} characters`, `An environment takes rows of at most ${MAX_ROW_CHARS}.`);
  return JSON.parse(text) as JsonObject;
}

const MAX_ROW_CHARS = 8 * 2 ** 20;

const textsOf = ({ solutions }: Stated): string[] => solutions.map(({ text }) => text);

/** The field with the row's id; undefined if its line number is the id. */
export function idFieldOf(row: unknown): (typeof ID_FIELDS)[number] | undefined {
  return isObject(row) ? ID_FIELDS.find((field) => Object.hasOwn(row, field) && row[field] != null) : undefined;
}

export function idOf(row: RowObject, inexact: Inexact): string | undefined {
  const field = idFieldOf(row);
  if (!field) return undefined;
  const value = row[field];
  if (typeof value === 'number') return numberText(field, value, inexact);
  if (typeof value !== 'string')
    return failRow(field, `is ${kindText(value)}`, 'Give a text or a number, unique in the file.');
  if (/^[!-~]{1,100}$/.test(value) && !value.includes('..')) return value;
  if (value === '') failRow(field, 'is empty', 'Give a text that is unique in the file, or leave the field out.');
  if (loneSurrogate(value)) failRow(field, 'holds half a character (a lone surrogate)', 'Write whole characters.');
  if (/\p{Cc}/u.test(value)) {
    failRow(field, 'holds a control character (such as NUL, a tab or a line break)', 'Use printable characters.');
  }
  if (value.split(/[/\\]/).includes('..'))
    failRow(field, 'holds a `..` path segment', 'An id names a query, not a folder.');
  if (Buffer.byteLength(value) > MAX_ID_BYTES) {
    failRow(field, `is ${Buffer.byteLength(value)} bytes long`, `Use at most ${MAX_ID_BYTES} bytes.`);
  }
  return value;
}

const MOST_OF_CATEGORY = 200;

function categoriesOf(row: RowObject): Query['categories'] {
  const all = CATEGORIES.flatMap((name) => {
    const value = found(row, [name]).find((one) => ['string', 'number'].includes(typeof one.value))?.value;
    const text = value === undefined ? '' : firstWords(String(value), MOST_OF_CATEGORY);
    return text === '' ? [] : [[name, text] as const];
  });
  return all.length > 0 ? Object.fromEntries(all) : undefined;
}

/** A row for an agent's program may have a `task` in words. */
function taskOf(row: RowObject, forProgram: boolean): Task {
  const named = BUILT_IN.find((known) => known === row['environment']);
  const value = row['task'] ?? named ?? 'math';
  const task = TASKS.find((known) => known === value);
  if (!task && forProgram) return 'math';
  return task ?? failRow('task', `is ${shown(value)}`, `Give one of: ${TASKS.join(', ')}; or leave it out for math.`);
}

export function parsedRow(row: Readonly<Record<string, unknown>>, environments: RowEnvironments | undefined) {
  const result = queryFromRow(row, '1', undefined, environments);
  if (result.ok) return result;
  throw rowError(result);
}

export function rowError({ field, problem, fix }: RowFault): DatasetError {
  const where = field === null ? 'The row' : `Field \`${field}\` of the row`;
  return new DatasetError(`${where}: ${problem}`, { reason: 'bad-row', fix });
}
