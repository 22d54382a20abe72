// Makes a run out of a data set and settings: queries.jsonl and run.json in its folder. Done twice, the
// second changes nothing; the same name with other settings or other data is refused.

import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BadRow } from './datasets/dataset.ts';
import { openDataset } from './datasets/index.ts';
import { badRowText } from './datasets/problem.ts';
import { DEFAULT_SETTINGS } from './domain/defaults.ts';
import { DatasetError, UsageError } from './domain/errors.ts';
import { safeName } from './domain/ids.ts';
import type { FoundLogprobs } from './domain/logprob-meaning.ts';
import type { ModelIdentity } from './domain/model-identity.ts';
import type { Query, Task } from './domain/query.ts';
import type { RolloutSettings } from './domain/settings.ts';
import { sha256Hex } from './domain/sha256.ts';
import { shuffled } from './domain/shuffle.ts';
import { hashQueries } from './storage/queries.ts';
import type { Origin, RunRecord } from './storage/run-record.ts';
import type { Store } from './storage/store.ts';
import { everturnVersion } from './version.ts';

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
  readonly sha256: string;
  readonly accepted: number;
  /** Of the accepted. */
  readonly byTask: Readonly<Partial<Record<Task, number>>>;
  readonly refused: number;
  /** The first of them. */
  readonly badRows: readonly BadRow[];
  /** The distinct beginnings of its conversations: the roles of their messages, `user` for a plain text. */
  readonly openings: readonly (readonly string[])[];
}

const MAX_BAD_ROWS = 50;
const MAX_OPENINGS = 50;

/** Reads the whole data set once: what would be played, and what is wrong with the rest. */
export async function surveyDataset(selection: DataSelection): Promise<DatasetSurvey> {
  const badRows: BadRow[] = [];
  const byTask: Partial<Record<Task, number>> = {};
  const openings = new Map<string, readonly string[]>();
  let refused = 0;
  const queries = select(selection, (bad) => {
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
  return `${slug}-${sha256Hex(JSON.stringify([survey.sha256, entries, samples])).slice(0, 8)}`;
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
  const wanted = { settings, samples, sha256: survey.sha256 };
  const known = await store.getRun();
  if (known) return { created: false, record: same(run, known.record, wanted, store.folder) };

  await store.putQueries(select(survey.selection, () => {}));
  const kept = await hashQueries(keptQueries(store));
  if (kept.sha256 !== survey.sha256) throw differs(run, store.folder, ['data set']);
  const { record, created } = await store.putRun({
    format: 'everturn-run/1',
    run,
    settings,
    origins,
    samples,
    dataset: { path: survey.selection.dataset, sha256: kept.sha256, accepted: kept.accepted, refused: survey.refused },
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
  wanted: { settings: RolloutSettings; samples: number; sha256: string },
  folder: string,
): RunRecord {
  // A run may be older than an option: it plays that option's default.
  const there = (key: string) => ({ ...DEFAULT_SETTINGS, ...record.settings })[key as keyof RolloutSettings];
  const differing = Object.entries(wanted.settings)
    .filter(([key, value]) => !isDeepStrictEqual(there(key), value))
    .map(([key, value]) => `${key} (${JSON.stringify(there(key))} there, ${JSON.stringify(value)} here)`);
  if (record.samples !== wanted.samples) differing.push(`samples (${record.samples} there, ${wanted.samples} here)`);
  if (record.dataset?.sha256 !== wanted.sha256) differing.push('the data set');
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

async function* select(
  { dataset, limit, shuffleSeed }: DataSelection,
  onBad: (bad: BadRow) => void,
): AsyncGenerator<Query> {
  const good = goodRows(dataset, onBad);
  const ordered = shuffleSeed === null ? good : shuffled(await allOf(good), shuffleSeed);
  let left = limit ?? Infinity;
  for await (const query of ordered) {
    if (left-- <= 0) return;
    yield query;
  }
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

async function* goodRows(path: string, onBad: (bad: BadRow) => void): AsyncGenerator<Query> {
  for await (const row of openDataset(path).rows()) {
    if (row.ok) yield row.query;
    else onBad(row.bad);
  }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
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
