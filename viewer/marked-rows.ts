// The rows of a run with the marks of people's verdicts and notes on them, for filters and lists. Acts are read again when
// their folder changed; a damaged one is left out here, and `check` names it.

import { join } from 'node:path';
import { STEERING } from '../records/format/layout.ts';
import { readActs } from '../records/run/steering.ts';
import { type Mark, type Row, rowKey } from './model/row.ts';
import { changedAt, mustBePlain } from './plain-files.ts';
import type { OpenRun } from './runs.ts';

export interface Marked {
  readonly rows: readonly Row[];
  /** Another one when a row or a mark is new. */
  readonly stamp: string;
}

interface Known {
  readonly changed: number | undefined;
  readonly marks: ReadonlyMap<string, readonly Mark[]>;
}

const NONE: Known['marks'] = new Map();
const known = new WeakMap<OpenRun, Known>();

export async function markedRows(open: OpenRun): Promise<Marked> {
  const changed = changedAt(join(open.store.folder, STEERING));
  let found = known.get(open);
  if (!found || found.changed !== changed) {
    found = { changed, marks: changed === undefined ? NONE : await marksOf(open) };
    known.set(open, found);
  }
  const { marks } = found;
  const rows = open.index.rows();
  const stamp = `${open.index.progress.revision} ${changed ?? 0}`;
  return { rows: marks.size === 0 ? rows : rows.map((row) => marked(row, marks.get(rowKey(row)))), stamp };
}

const marked = (row: Row, marks: readonly Mark[] | undefined): Row => (marks ? { ...row, marks } : row);

async function marksOf({ store }: OpenRun): Promise<ReadonlyMap<string, readonly Mark[]>> {
  mustBePlain(store.folder, STEERING);
  const marks = new Map<string, readonly Mark[]>();
  for (const acts of (await readActs(store, () => {})).values()) {
    for (const { act } of acts) {
      const key = rowKey(act.of);
      const before = marks.get(key) ?? [];
      if (!before.includes(act.act)) marks.set(key, [...before, act.act]);
    }
  }
  return marks;
}
