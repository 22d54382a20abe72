// The value of one field of the data set's rows, for each query of a run: what `stats --by` groups by. The run's folder
// holds categories and the rows of users' environments; for another field the data set is read again, and each of its rows
// must be the one that was played. Memory: one value a query.

import { createHash } from 'node:crypto';
import type { DataSource } from '../formats/datasets/dataset.ts';
import { openDataset } from '../formats/datasets/index.ts';
import { findDataset, findRecorded } from '../formats/hub/find-dataset.ts';
import { oneLine, short } from '../domain/text/foreign-text.ts';
import { isObject } from '../domain/schema/fields.ts';
import type { Query } from '../domain/query/query.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { playedQueries } from '../records/run/queries.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { RunPlace } from '../run/place.ts';

/** Values by query id; a query without a value is not in it. */
export type FieldValues = ReadonlyMap<string, string>;

const TASK = 'task';
const MOST_NAMES = 40;

/** `file`: instead of the place where the run found its data set. */
export async function fieldOfRows(
  cwd: string,
  { store, run }: RunPlace,
  record: RunRecord | undefined,
  field: string,
  file: string | undefined,
): Promise<FieldValues> {
  const values = new Map<string, string>();
  const prompts = new Map<string, string>();
  const names = new Set<string>([TASK]);
  let isKept = false;
  const put = (query: string, row: unknown) => {
    for (const name of namesIn(row)) if (names.size < MOST_NAMES) names.add(name);
    const value = valueAt(row, field);
    if (value !== undefined) values.set(query, value);
  };
  for await (const query of playedQueries(store)) {
    if (field === TASK) values.set(query.queryId, query.environment ?? query.task);
    else if (query.row) put(query.queryId, query.row);
    else if (query.categories?.[field] !== undefined) {
      isKept = true;
      values.set(query.queryId, query.categories[field]);
    } else prompts.set(query.queryId, digest(query.prompt));
  }
  if (!isKept && prompts.size > 0) {
    const finder = { cwd, env: process.env };
    const recorded = record?.dataset;
    if (file === undefined && !recorded) {
      const problem = `Run "${run}" has no data set: its rollouts were started one by one.`;
      throw unusable(problem, 'Name a file with the rows that were played: --rows <file>.');
    }
    const source = await (file === undefined ? findRecorded(recorded!, finder) : findDataset(file, finder));
    for await (const { query, fields, line } of goodRows(source, record)) {
      const prompt = prompts.get(query.queryId);
      if (prompt === undefined) continue;
      if (prompt !== digest(query.prompt)) {
        const row = `${source.path}:${line}: row ${JSON.stringify(oneLine(query.queryId))}`;
        const fix = 'Give the data set that the run played: --rows <file>.';
        throw unusable(`${row} asks another question than run "${run}" did.`, fix);
      }
      put(query.queryId, fields);
    }
  }
  if (values.size > 0) return values;
  const problem = `No row of run "${run}" has a field ${JSON.stringify(oneLine(field))}.`;
  throw unusable(problem, `There are: ${[...names].map((name) => oneLine(name)).join(', ')}.`);
}

async function* goodRows(source: DataSource, record: RunRecord | undefined) {
  try {
    const { wording, settings } = record ?? {};
    const reading = { environments: settings?.environments, wording, forProgram: settings?.program !== undefined };
    for await (const row of openDataset(source, reading).rows()) if (row.ok) yield row;
  } catch (error) {
    const { code, cause } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && (cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error;
    throw unusable(`The run's data set is not at ${source.path} any more.`, 'Name the file with --rows <file>.');
  }
}

const digest = (prompt: Query['prompt']): string =>
  createHash('sha256').update(JSON.stringify(prompt)).digest('base64');

/** Its fields, and those of its objects: `extra_info.split`. */
function namesIn(row: unknown): string[] {
  if (!isObject(row)) return [];
  return Object.entries(row).flatMap(([name, value]) => {
    if (isObject(value)) return Object.keys(value).map((inner) => `${name}.${inner}`);
    return [name];
  });
}

const MOST_CHARS = 200;

/** The value as text; undefined if the row has none. A field whose name has dots comes before a path. */
function valueAt(row: unknown, field: string): string | undefined {
  if (!isObject(row)) return undefined;
  const steps = Object.hasOwn(row, field) ? [field] : field.split('.');
  let at: unknown = row;
  for (const step of steps) at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  if (at === undefined || at === null || at === '') return undefined;
  return short(typeof at === 'string' ? at : JSON.stringify(at), MOST_CHARS);
}
