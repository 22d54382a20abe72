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

export type Row =
  { readonly ok: true; readonly line: number; readonly query: Query } | { readonly ok: false; readonly bad: BadRow };

export interface Dataset {
  /** Every line in file order, one at a time; memory does not grow with the file, ids aside. */
  rows(): AsyncIterable<Row>;
}
