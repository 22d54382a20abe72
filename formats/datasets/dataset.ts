// The interface of every data set format.

import type { Query } from '../../domain/query/query.ts';
import type { HubSource } from '../../domain/run/hub-source.ts';

export interface BadRow {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** The field at fault; null if the whole line is. */
  readonly field: string | null;
  /** The fault. */
  readonly problem: string;
  /** The fix. */
  readonly fix: string;
}

export interface Statement {
  /** `solutions[1]`: for messages. */
  readonly field: string;
  readonly text: string;
}

/** The reference answer of a row. */
export interface Stated {
  /** Alternatives: any of them is right. */
  readonly solutions: readonly Statement[];
  /** Other fields of the row; a final answer marked in one of these must equal one of the solutions. */
  readonly beside: readonly Statement[];
}

export interface GoodRow {
  readonly ok: true;
  readonly line: number;
  readonly query: Query;
  /** The field of each solution, and the row's other fields; undefined for code. */
  readonly stated: Stated | undefined;
  /** Its solutions were read, and each is a name or a phrase. */
  readonly inWords?: boolean;
  /** The row as the file has it. */
  readonly fields: unknown;
}

/** `inWords`: its reference answer is a sentence without a number. */
export type Row = GoodRow | { readonly ok: false; readonly bad: BadRow; readonly inWords?: boolean };

/** The files of a data set on this machine. */
export interface DataSource {
  /** Absolute; of a data set from a hub its place, without a revision. */
  readonly path: string;
  /** In order, of one format. */
  readonly files: readonly string[];
  /** Present for one from a hub. */
  readonly hub?: HubSource;
  /** The name of the benchmark whose rows these are. */
  readonly benchmark?: string;
}

export interface Dataset {
  /** Every line in file order, one at a time; memory does not grow with the file, ids aside. */
  rows(): AsyncIterable<Row>;
  /** The names of its columns, or of its rows' fields until all that are wanted are found. */
  columns(wanted: readonly string[]): Promise<readonly string[]>;
  /** Its lines, without rows of days that are not played. */
  count(): Promise<number>;
}
