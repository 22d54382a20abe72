// Makes a run out of a data set and settings: queries.jsonl and run.json in its folder. Done twice, the
// second changes nothing; the same name with other settings or other data is refused.

import { createHash } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BadRow, Row } from '../datasets/dataset.ts';
import { examinedRows } from '../datasets/examine.ts';
import { openDataset } from '../datasets/index.ts';
import { badRowText } from '../datasets/problem.ts';
import { DEFAULT_SETTINGS } from '../domain/defaults.ts';
import { DatasetError, UsageError } from '../domain/errors.ts';
import { safeName } from '../domain/ids.ts';
import type { FoundLogprobs } from '../domain/logprob-meaning.ts';
import type { ModelIdentity } from '../domain/model-identity.ts';
import type { Query, Task } from '../domain/query.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { SolutionReader } from '../domain/solution-reader.ts';
import { shuffled } from '../domain/shuffle.ts';
import { hashQueries, queryLine } from '../storage/queries.ts';
import type { Origin, RunRecord } from '../storage/record/run-record.ts';
import type { Store } from '../storage/store.ts';
import { everturnVersion } from '../machine/package-root.ts';

export interface DataSelection {
  readonly dataset: string;
  /** Only the first so many rows, after shuffling; null for all. */
  readonly limit: number | null;
  /** Holds the accepted rows in memory; null keeps the file's order. */
  readonly shuffleSeed: number | null;
  /** Refuse the whole file for one bad row. */
  readonly strict?: boolean;
}

export interface DatasetSurvey {
  readonly selection: DataSelection;
  /** Of the accepted rows, as queries.jsonl will hold them. */
  readonly sha256: string;
  /** Of the rows as they were before their solutions were read: what a run is known by. */
  readonly offered: string;
  /** Lines whose solutions were read and found unusable; null where none was read. */
  readonly unusable: ReadonlySet<number> | null;
  readonly accepted: number;
  /** Of the accepted. */
  readonly byTask: Readonly<Partial<Record<Task, number>>>;
  readonly refused: number;
  /** The first of them. */
  readonly badRows: readonly BadRow[];
  /** The distinct beginnings of its conversations: the roles of their messages, `user` for a plain text. */
  readonly openings: readonly (readonly string[])[];
}

/** Bad rows that are named; the others are counted. */
const MAX_BAD_ROWS = 10_000;
const MAX_OPENINGS = 50;

/** Reads the whole data set once: what would be played, and what is wrong with the rest. No solution is read. */
export async function surveyDataset(selection: DataSelection): Promise<DatasetSurvey> {
  const found = await survey(selection, (rows) => rows);
  return { ...found, offered: found.sha256, unusable: null };
}

/** Reads each solution, once in the life of a run: before it is made. Rows whose solutions nobody can use are left out. */
export async function examineDataset(known: DatasetSurvey, reader: SolutionReader): Promise<DatasetSurvey> {
  const unusable = new Set<number>();
  const found = await survey(known.selection, async function* (rows) {
    for await (const row of examinedRows(rows, known.selection.dataset, reader)) {
      if (!row.ok) unusable.add(row.bad.line);
      yield row;
    }
  });
  return { ...found, offered: known.offered, unusable };
}

type Step = (rows: AsyncIterable<Row>) => AsyncIterable<Row>;

async function survey(selection: DataSelection, step: Step): Promise<Omit<DatasetSurvey, 'offered' | 'unusable'>> {
  const badRows: BadRow[] = [];
  const byTask: Partial<Record<Task, number>> = {};
  const openings = new Map<string, readonly string[]>();
  let refused = 0;
  const queries = select(selection, step, (bad) => {
    refused++;
    if (badRows.length < MAX_BAD_ROWS) badRows.push(bad);
    if (selection.strict) throw strictError(bad);
  });
  const { sha256, accepted } = await hashQueries(counting(queries, byTask, openings));
  if (accepted === 0) {
    const first = badRows[0] ? ` The first of ${refused} bad rows: ${badRowText(badRows[0])}` : '';
    throw new DatasetError(`${selection.dataset} has no row that can be played.${first}`, {
      reason: 'empty-dataset',
      fix: 'A row is a JSON object with a prompt (`question`, `messages` or `prompt`) and `answer` or `solutions`.',
    });
  }
  return { selection, sha256, accepted, byTask, refused, badRows, openings: [...openings.values()] };
}

/** A name that follows from data and settings: the same command finds the same run again. */
export function nameOfRun(survey: DatasetSurvey, settings: Partial<RolloutSettings>, samples: number): string {
  const stem = basename(survey.selection.dataset).replace(/\.[a-z]+$/i, '');
  const slug = safeName(stem).replace(/~.*/, '').slice(0, 40) || 'run';
  // An option that came later leaves names as they were while it says nothing.
  const entries = sortedEntries(settings).filter(
    ([key, value]) => key !== 'serverLimits' || sortedEntries(value as object).length > 0,
  );
  return `${slug}-${sha256Hex(JSON.stringify([survey.offered, entries, samples])).slice(0, 8)}`;
}

export interface NewRunInput {
  readonly run: string;
  readonly survey: DatasetSurvey;
  readonly settings: RolloutSettings;
  readonly samples: number;
  readonly origins: Readonly<Record<string, Origin>>;
  /** What was found of the model; null where it was not looked at. */
  readonly logprobs?: FoundLogprobs | null;
  readonly model?: ModelIdentity | null;
}

export async function createRun(store: Store, input: NewRunInput): Promise<{ created: boolean; record: RunRecord }> {
  const { run, survey, settings, samples, origins, logprobs = null, model = null } = input;
  const wanted = { settings, samples, offered: survey.offered };
  const known = await store.getRun();
  if (known) return { created: false, record: same(run, known.record, wanted, store.folder) };

  await withoutTrace(store, () => store.putQueries(unchanged(survey)));
  const kept = await hashQueries(keptQueries(store));
  if (kept.sha256 !== survey.sha256) throw differs(run, store.folder, ['data set']);
  const { record, created } = await store.putRun({
    format: 'everturn-run/1',
    run,
    settings,
    origins,
    samples,
    dataset: {
      path: survey.selection.dataset,
      sha256: kept.sha256,
      accepted: kept.accepted,
      refused: survey.refused,
      ...(survey.offered === kept.sha256 ? {} : { offered: survey.offered }),
    },
    logprobs,
    model,
    versions: { everturn: everturnVersion(), node: process.version },
    createdAt: Date.now(),
  });
  return { created, record: same(run, record, wanted, store.folder) };
}

function same(
  run: string,
  record: RunRecord,
  wanted: { settings: RolloutSettings; samples: number; offered: string },
  folder: string,
): RunRecord {
  // A run may be older than an option: it plays that option's default.
  const there = (key: string) => ({ ...DEFAULT_SETTINGS, ...record.settings })[key as keyof RolloutSettings];
  const differing = Object.entries(wanted.settings)
    .filter(([key, value]) => !isDeepStrictEqual(there(key), value))
    .map(([key, value]) => `${key} (${JSON.stringify(there(key))} there, ${JSON.stringify(value)} here)`);
  if (record.samples !== wanted.samples) differing.push(`samples (${record.samples} there, ${wanted.samples} here)`);
  if ((record.dataset?.offered ?? record.dataset?.sha256) !== wanted.offered) differing.push('the data set');
  if (differing.length > 0) throw differs(run, folder, differing);
  return record;
}

function differs(run: string, folder: string, what: readonly string[]): UsageError {
  return new UsageError(`Run "${run}" exists in ${folder}, and differs: ${what.join(', ')}.`, {
    reason: 'run-differs',
    fix: 'Give this run another --name, or repeat the command that made the old one.',
  });
}

function strictError(bad: BadRow): DatasetError {
  return new DatasetError(badRowText(bad), {
    reason: 'bad-row',
    fix: 'Without --strict, bad rows are reported and left out.',
  });
}

/** The accepted rows again; an error where the file has changed since it was surveyed. */
async function* unchanged({ selection, unusable, sha256 }: DatasetSurvey): AsyncGenerator<Query> {
  const hash = createHash('sha256');
  const usable: Step = async function* (rows) {
    for await (const row of rows) if (row.ok && !unusable?.has(row.line)) yield row;
  };
  for await (const query of select(selection, usable, () => {})) {
    hash.update(queryLine(query));
    yield query;
  }
  if (hash.digest('hex') === sha256) return;
  throw new DatasetError(`${selection.dataset} has changed while it was read`, {
    reason: 'dataset-changed',
    fix: 'Give the command again when the file is whole.',
  });
}

/** A run that is refused leaves nothing: its folder goes again, unless it holds something. */
async function withoutTrace<T>({ folder }: Store, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rmdir(folder).catch(() => {});
    throw error;
  }
}

async function* select(
  { dataset, limit, shuffleSeed }: DataSelection,
  step: Step,
  onBad: (bad: BadRow) => void,
): AsyncGenerator<Query> {
  let left = limit ?? Infinity;
  if (left <= 0) return;
  const rows = openDataset(dataset).rows();
  for await (const row of step(shuffleSeed === null ? rows : inRandomOrder(rows, shuffleSeed))) {
    if (row.ok) yield row.query;
    else onBad(row.bad);
    if (row.ok && --left <= 0) return;
  }
}

/** The bad rows first. */
async function* inRandomOrder(rows: AsyncIterable<Row>, seed: number): AsyncGenerator<Row> {
  const good: Row[] = [];
  for await (const row of rows) {
    if (row.ok) good.push(row);
    else yield row;
  }
  yield* shuffled(good, seed);
}

async function* counting(
  queries: AsyncIterable<Query>,
  byTask: Partial<Record<Task, number>>,
  openings: Map<string, readonly string[]>,
): AsyncGenerator<Query> {
  for await (const query of queries) {
    const { prompt } = query;
    byTask[query.task] = (byTask[query.task] ?? 0) + 1;
    const roles = prompt.kind === 'messages' ? prompt.messages.map(({ role }) => role) : ['user'];
    if (openings.size < MAX_OPENINGS) openings.set(roles.join(), roles);
    yield query;
  }
}

async function* keptQueries(store: Store): AsyncGenerator<Query> {
  const PAGE = 1000;
  for (let from = 0; ; from += PAGE) {
    const page = await store.readQueries(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
  }
}

function sortedEntries(object: object): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}
