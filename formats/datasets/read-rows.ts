// The rows of any file format, once they are values: each is returned, good or with its fault, in file order; ids are
// unique. Several files are one table: the numbers of a file's rows go on in the next one. Throws a DatasetError if no row is good. Memory: one batch, and the ids seen so far.

import { DatasetError } from '../../domain/errors/errors.ts';
import { isObject } from '../../domain/schema/fields.ts';
import type { BadRow, Dataset, Row } from './dataset.ts';
import { mustBeFile, type ReadLine, unreadable } from './json-line.ts';
import { badRowText, rowFault, type RowFault } from './row-fault.ts';
import { idFieldOf, queryFromRow, type RowReading } from './row.ts';
import { askerOf, type Asker } from './wording.ts';

export interface NumberedRow {
  /** 1-based: the line of a text file, the row of a table. */
  readonly number: number;
  readonly read: ReadLine;
}

export interface Table {
  /** Its name in messages. */
  readonly path: string;
  readonly files: readonly string[];
  readonly batches: (file: string) => AsyncIterable<readonly NumberedRow[]>;
  /** Throws if it is not there; by default what is no file is not. */
  readonly mustBe?: (file: string) => Promise<void>;
  /** The names of a file's columns, where its rows do not say them. */
  readonly columns?: (file: string) => Promise<readonly string[]>;
  /** What to write into an empty file. */
  readonly emptyFix: string;
}

/** Of rows whose fields are told by themselves. */
const MOST_NAMES = 1000;

export function datasetOf(table: Table, reading: RowReading = {}): Dataset {
  const { files, columns, mustBe = mustBeFile } = table;
  return {
    rows: () => acceptedRows(table, reading),
    async columns(wanted) {
      await mustBe(files[0]!);
      return (columns ? columns(files[0]!) : namesIn(wanted)).catch((error: unknown) => {
        throw unreadable(files[0]!, error);
      });
    },
    async count() {
      const asker = askerOf(reading.wording);
      let count = 0;
      for (const file of files)
        for await (const batch of table.batches(file))
          for (const { read } of batch) if (!('json' in read && asker.leavesOut(read.json))) count++;
      return count;
    },
  };

  /** A row may lack what others have. */
  async function namesIn(wanted: readonly string[]): Promise<readonly string[]> {
    const names = new Set<string>();
    for (const file of files)
      for await (const batch of table.batches(file)) {
        for (const { read } of batch)
          for (const name of 'json' in read && isObject(read.json) ? Object.keys(read.json) : [])
            if (names.size < MOST_NAMES || wanted.includes(name)) names.add(name);
        if (names.size > 0 && wanted.every((name) => names.has(name))) return [...names];
      }
    return [...names];
  }
}

async function* acceptedRows(
  { path, files, batches, emptyFix, mustBe = mustBeFile }: Table,
  { environments, wording, forProgram }: RowReading,
): AsyncGenerator<Row> {
  for (const file of files) await mustBe(file);
  const asker = askerOf(wording);
  const ids: Ids = { all: openIdSet(), numbers: openIdSet() };
  let [good, leftOut] = [0, 0];
  let firstBad: BadRow | undefined;
  let last = 0;
  for (const file of files) {
    const before = last;
    try {
      for await (const batch of batches(file)) {
        for (const { number, read } of batch) {
          last = before + number;
          if ('json' in read && asker.leavesOut(read.json)) {
            leftOut++;
            continue;
          }
          const row = acceptRow(path, { number: last, read }, ids, { environments, asker, forProgram });
          if (row.ok) good++;
          else firstBad ??= row.bad;
          yield row;
        }
      }
    } catch (error) {
      throw unreadable(file, error);
    }
  }
  if (good > 0) return;
  if (!firstBad && leftOut > 0)
    throw new DatasetError(`${path} has no row of the days that are played`, {
      reason: 'dataset-no-good-row',
      fix: "Change `dates` in the benchmark's page.",
    });
  if (!firstBad) throw new DatasetError(`${path} is empty`, { reason: 'dataset-empty', fix: emptyFix });
  throw new DatasetError(`${path} has no good row. The first: ${badRowText(firstBad)}`, {
    reason: 'dataset-no-good-row',
  });
}

type Read = Pick<RowReading, 'environments' | 'forProgram'> & { readonly asker: Asker };

/** `numbers`: those ids that are the number of a row without one. */
interface Ids {
  readonly all: IdSet;
  readonly numbers: IdSet;
}

function acceptRow(file: string, { number, read }: NumberedRow, ids: Ids, reading: Read): Row {
  const { environments, asker, forProgram } = reading;
  const bad = (fault: RowFault): Row => ({ ok: false, bad: { file, line: number, ...fault } });
  if ('fault' in read) return bad(read.fault);
  const { json, inexact } = read;
  const result = queryFromRow(json, String(number), inexact, environments, asker, forProgram);
  if (!result.ok) return bad({ field: result.field, problem: result.problem, fix: result.fix });
  const { query, stated } = result;
  const field = asker.idField ?? idFieldOf(json);
  if (!ids.all.add(query.queryId)) {
    const shown = JSON.stringify(query.queryId);
    const problem = !field
      ? `is missing, and its line number ${shown} is the id of an earlier row`
      : ids.numbers.has(query.queryId)
        ? `${shown} is the id of line ${query.queryId}, which has none of its own`
        : `${shown} is the id of an earlier row`;
    return bad(rowFault(field ?? 'id', problem, 'Give each row an id of its own.'));
  }
  if (!field) ids.numbers.add(query.queryId);
  return { ok: true, line: number, query, stated, fields: json };
}

interface IdSet {
  /** False if the id was in the set. */
  add(id: string): boolean;
  has(id: string): boolean;
}

const FULL = 8_000_000;

function openIdSet(): IdSet {
  let current = new Set<string>();
  const full: Set<string>[] = [];
  return {
    has: (id) => current.has(id) || full.some((set) => set.has(id)),
    add(id) {
      if (full.some((set) => set.has(id))) return false;
      const before = current.size;
      if (current.add(id).size === before) return false;
      if (current.size >= FULL) {
        full.push(current);
        current = new Set();
      }
      return true;
    },
  };
}
