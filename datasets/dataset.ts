// The way in: the interface of every data set format.

import type { Query } from '../domain/query.ts';

export interface BadRow {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** The field that was wrong; null when the whole line is. */
  readonly field: string | null;
  /** What was wrong. */
  readonly problem: string;
  /** What would be right. */
  readonly fix: string;
}

export interface Statement {
  /** `solutions[1]`: for messages. */
  readonly field: string;
  readonly text: string;
}

/** What a row says is right. */
export interface Stated {
  /** Any of them is right. */
  readonly solutions: readonly Statement[];
  /** Said beside them; a final answer in one of these must be one of them. */
  readonly beside: readonly Statement[];
}

export interface GoodRow {
  readonly ok: true;
  readonly line: number;
  readonly query: Query;
  /** Where each solution was found, and what the row says beside them; undefined for code. */
  readonly stated: Stated | undefined;
}

export type Row = GoodRow | { readonly ok: false; readonly bad: BadRow };

export interface Dataset {
  /** Every line in file order, one at a time; memory does not grow with the file, ids aside. */
  rows(): AsyncIterable<Row>;
}
