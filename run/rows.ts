// The rows of a data set for a run, read once: each row is hashed as it is offered, its solution is read by the judge, and the
// accepted ones wait in a file without a name until the run that plays them is made. A row is dropped as soon as it is counted,
// because the data set may be larger than memory (a shuffled selection holds the accepted rows).

import type { ProgramRecord } from '../domain/agent/index.ts';
import { DatasetError } from '../domain/errors/errors.ts';
import type { Query, Task, Wording } from '../domain/query/query.ts';
import type { SolutionReader } from '../domain/query/solution-reader.ts';
import type { EnvironmentRecord } from '../domain/rollout/environment.ts';
import { shuffled } from '../domain/run/shuffle.ts';
import type { BadRow, DataSource, Row } from '../formats/datasets/dataset.ts';
import { examinedRows } from '../formats/datasets/examine.ts';
import { openDataset, sourceOf } from '../formats/datasets/index.ts';
import { badRowText } from '../formats/datasets/row-fault.ts';
import type { DatasetRecord } from '../records/format/run-record.ts';
import { openQueryHash } from '../records/run/queries.ts';
import { openWaitingQueries } from '../records/run/waiting-queries.ts';

export interface RowSelection {
  readonly dataset: string | DataSource;
  /** At most this many accepted rows, after shuffling; null for all. */
  readonly limit: number | null;
  /** Holds the accepted rows in memory; null keeps the file's order. */
  readonly shuffleSeed: number | null;
  /** Refuse the whole file for one bad row. */
  readonly strict?: boolean;
  /** The run's own environments. */
  readonly environments?: readonly EnvironmentRecord[];
  /** The run's agent: it gets the whole row, and may judge itself. */
  readonly program?: ProgramRecord;
  /** The run's own words around its rows. */
  readonly wording?: Wording | undefined;
  /** Rows that the page of a benchmark says it has. */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Rows {
  /** As run.json has them. */
  readonly dataset: DatasetRecord;
  /** The words around them; undefined: their own. */
  readonly wording: Wording | undefined;
  /** The number of accepted rows. */
  readonly byTask: Readonly<Partial<Record<Task, number>>>;
  /** The first bad rows. */
  readonly badRows: readonly BadRow[];
  /** The distinct beginnings of its conversations: the roles of their messages, `user` for a plain text. */
  readonly openings: readonly (readonly string[])[];
  /** Answers that the judge compares: accepted names and phrases, and sentences left out; null if none was read. */
  readonly inWords: { readonly compared: number; readonly leftOut: number } | null;
  /** The accepted rows, any number of times until they are closed. */
  queries(): AsyncIterable<Query>;
  close(): void;
}

/** This many bad rows are named; the others are only counted. */
const MAX_BAD_ROWS = 10_000;
const MAX_OPENINGS = 50;

/** `reader`: undefined where solutions are not read, because the run is there: they were read when it was made. */
export async function readRows(selection: RowSelection, reader?: SolutionReader): Promise<Rows> {
  const { strict, program } = selection;
  const { path, hub, benchmark } = sourceOf(selection.dataset);
  const limit = selection.limit ?? Infinity;
  let isCut = false;
  const offered = openQueryHash();
  const accepted = openWaitingQueries();
  const badRows: BadRow[] = [];
  const byTask: Partial<Record<Task, number>> = {};
  const openings = new Map<string, readonly string[]>();
  const inWords = { compared: 0, leftOut: 0 };
  let refused = 0;

  /** The data set is identified by the rows that a run of this size would have if each solution were usable. */
  async function* rows(): AsyncGenerator<Row> {
    for await (const row of inOrder(selection)) {
      selection.signal?.throwIfAborted();
      if (row.ok && offered.count < limit) offered.put(row.query);
      yield row;
    }
  }
  try {
    for await (const row of reader ? examinedRows(rows(), path, reader) : rows()) {
      isCut = accepted.count >= limit;
      if (isCut) break;
      if (row.inWords) inWords[row.ok ? 'compared' : 'leftOut']++;
      if (!row.ok) {
        refused++;
        if (badRows.length < MAX_BAD_ROWS) badRows.push(row.bad);
        if (strict) throw strictError(row.bad);
        continue;
      }
      const { query } = row;
      accepted.put(query);
      byTask[query.task] = (byTask[query.task] ?? 0) + 1;
      const roles = openingOf(query);
      if (openings.size < MAX_OPENINGS) openings.set(roles.join(), roles);
    }
    if (accepted.count === 0) throw empty(path, badRows[0], refused);
    const sha256 = accepted.end();
    const asOffered = offered.digest();
    const pageSize = await otherSize(selection, isCut ? undefined : accepted.count + refused);
    return {
      dataset: {
        ...{ path, sha256, accepted: accepted.count, refused },
        ...(asOffered !== sha256 && { offered: asOffered }),
        ...(hub && { hub }),
        ...(benchmark !== undefined && { benchmark }),
        ...(pageSize && { pageSize }),
      },
      wording: selection.wording,
      ...{ byTask, badRows, openings: [...openings.values()] },
      // An agent's program may judge itself.
      inWords: reader ? (program ? { compared: 0, leftOut: 0 } : inWords) : null,
      ...{ queries: accepted.read, close: accepted.close },
    };
  } catch (error) {
    accepted.close();
    throw error;
  }
}

/** Undefined if the data have as many rows as the page says, whatever is taken of them. */
async function otherSize(
  { dataset, wording, size }: RowSelection,
  counted: number | undefined,
): Promise<DatasetRecord['pageSize']> {
  if (size === undefined) return undefined;
  const rows = counted ?? (await openDataset(dataset, { wording }).count());
  return rows === size ? undefined : { said: size, rows };
}

const empty = (dataset: string, first: BadRow | undefined, refused: number): DatasetError =>
  new DatasetError(
    `${dataset} has no usable row.${first ? ` The first of ${refused} bad rows: ${badRowText(first)}` : ''}`,
    {
      reason: 'empty-dataset',
      fix: 'A row is a JSON object with a prompt (`question`, `messages` or `prompt`) and `answer` or `solutions`.',
    },
  );

const strictError = (bad: BadRow): DatasetError =>
  new DatasetError(badRowText(bad), {
    reason: 'bad-row',
    fix: 'Without --strict, bad rows are reported and left out.',
  });

/** Bad rows come first where the selection is shuffled. */
async function* inOrder(selection: RowSelection): AsyncGenerator<Row> {
  const { dataset, shuffleSeed, environments, program, wording } = selection;
  const rows = openDataset(dataset, { environments, wording, forProgram: program !== undefined }).rows();
  if (shuffleSeed === null) return yield* rows;
  const good: Row[] = [];
  for await (const row of rows) {
    selection.signal?.throwIfAborted();
    if (row.ok) good.push(row);
    else yield row;
  }
  yield* shuffled(good, shuffleSeed);
}

/** The roles of the messages that a conversation begins with. */
export const openingOf = ({ prompt }: Query): readonly string[] =>
  prompt.kind === 'messages' ? prompt.messages.map(({ role }) => role) : ['user'];
