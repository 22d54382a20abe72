// The rows of a data set for a run: how many are accepted, of which task, the faults of the others, and the accepted
// rows as queries. Each function reads the file once, up to --limit accepted rows, because it may be larger
// than memory: a row is dropped as soon as it is counted (a shuffled selection holds the accepted rows).

import { createHash } from 'node:crypto';
import type { BadRow, Row } from '../formats/datasets/dataset.ts';
import { examinedRows } from '../formats/datasets/examine.ts';
import { openDataset } from '../formats/datasets/index.ts';
import { badRowText } from '../formats/datasets/problem.ts';
import type { ProgramRecord } from '../domain/agent/program.ts';
import type { EnvironmentRecord } from '../domain/rollout/environment.ts';
import { DatasetError } from '../domain/errors/errors.ts';
import type { Query, Task, Wording } from '../domain/query/query.ts';
import { shuffled } from '../domain/run/shuffle.ts';
import type { SolutionReader } from '../domain/query/solution-reader.ts';
import { hashQueries, queryLine } from '../records/run/queries.ts';

export interface DataSelection {
  readonly dataset: string;
  /** At most this many rows, after shuffling; null for all. */
  readonly limit: number | null;
  /** Holds the accepted rows in memory; null keeps the file's order. */
  readonly shuffleSeed: number | null;
  /** Refuse the whole file for one bad row. */
  readonly strict?: boolean;
  /** The run's own environments. */
  readonly environments?: readonly EnvironmentRecord[];
  /** The run's agent: it gets the whole row, and may judge itself. */
  readonly program?: ProgramRecord;
  /** Of the run, around its rows. */
  readonly wording?: Wording | undefined;
}

export interface DatasetSurvey {
  readonly selection: DataSelection;
  /** Of the accepted rows, as stored in queries.jsonl. */
  readonly sha256: string;
  /** Of the rows before their solutions were read: identifies the data set of a run. */
  readonly offered: string;
  /** Lines whose solutions were read and found unusable; null if none was read. */
  readonly unusable: ReadonlySet<number> | null;
  /** Of the answers that the judge compares, the accepted names and phrases, and the sentences left out; null if none was read. */
  readonly inWords: { readonly compared: number; readonly leftOut: number } | null;
  readonly accepted: number;
  /** Of the accepted. */
  readonly byTask: Readonly<Partial<Record<Task, number>>>;
  readonly refused: number;
  /** The first of them. */
  readonly badRows: readonly BadRow[];
  /** The distinct beginnings of its conversations: the roles of their messages, `user` for a plain text. */
  readonly openings: readonly (readonly string[])[];
}

/** This many bad rows are named; the others are only counted. */
const MAX_BAD_ROWS = 10_000;
const MAX_OPENINGS = 50;

/** Reads the whole data set once and counts accepted and bad rows. Reads no solution. */
export async function surveyDataset(selection: DataSelection): Promise<DatasetSurvey> {
  const found = await survey(selection, (rows) => rows);
  return { ...found, offered: found.sha256, unusable: null, inWords: null };
}

/** Reads each solution, once, before a run is made. Leaves out rows with an unusable solution. */
export async function examineDataset(known: DatasetSurvey, reader: SolutionReader): Promise<DatasetSurvey> {
  const unusable = new Set<number>();
  // An agent's program may judge itself.
  const counts = known.selection.program === undefined;
  const inWords = { compared: 0, leftOut: 0 };
  const found = await survey(known.selection, async function* (rows) {
    for await (const row of examinedRows(rows, known.selection.dataset, reader)) {
      if (!row.ok) unusable.add(row.bad.line);
      if (counts && row.inWords) inWords[row.ok ? 'compared' : 'leftOut']++;
      yield row;
    }
  });
  return { ...found, offered: known.offered, unusable, inWords };
}

type Step = (rows: AsyncIterable<Row>) => AsyncIterable<Row>;

async function survey(
  selection: DataSelection,
  step: Step,
): Promise<Omit<DatasetSurvey, 'offered' | 'unusable' | 'inWords'>> {
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
    throw new DatasetError(`${selection.dataset} has no usable row.${first}`, {
      reason: 'empty-dataset',
      fix: 'A row is a JSON object with a prompt (`question`, `messages` or `prompt`) and `answer` or `solutions`.',
    });
  }
  return { selection, sha256, accepted, byTask, refused, badRows, openings: [...openings.values()] };
}

/** The accepted rows again; throws if the file has changed since the survey. */
export async function* acceptedQueries({ selection, unusable, sha256 }: DatasetSurvey): AsyncGenerator<Query> {
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
    fix: 'Repeat the command when the file is complete.',
  });
}

function strictError(bad: BadRow): DatasetError {
  return new DatasetError(badRowText(bad), {
    reason: 'bad-row',
    fix: 'Without --strict, bad rows are reported and left out.',
  });
}

async function* select(
  { dataset, limit, shuffleSeed, environments, program, wording }: DataSelection,
  step: Step,
  onBad: (bad: BadRow) => void,
): AsyncGenerator<Query> {
  let left = limit ?? Infinity;
  if (left <= 0) return;
  const rows = openDataset(dataset, { environments, wording, forProgram: program !== undefined }).rows();
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
