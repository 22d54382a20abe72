// The list of rollouts: its filter, its order, its pages, and the neighbours of a row. Pure. Rows whose fact is unknown are last,
// whatever the direction; equal rows stay in data set order.

import { parseFilter } from './filter.ts';
import type { ListQuery, Page, RolloutMessage, RowPlace } from './messages.ts';
import { rowMs, rowPlace, type Row, rowKey, rowTokens } from './row.ts';

/** The columns that a list can be sorted by. */
const FACTS = {
  query: (row) => row.query,
  outcome: (row) => row.state,
  turns: (row) => row.success.length,
  right: (row) => row.success.findIndex((s) => s === 1) + 1 || null,
  reward: (row) => row.reward,
  tokens: rowTokens,
  seconds: rowMs,
  ended: (row) => row.endedAt,
  waiting: (row) => row.doing?.since ?? null,
} as const satisfies Record<string, (row: Row) => string | number | null>;
export type SortKey = keyof typeof FACTS;

/** `tokens` ascending, `-tokens` descending; anything else is the data set's order. */
export function sorted(rows: readonly Row[], by: string): readonly Row[] {
  const down = by.startsWith('-');
  const key = down ? by.slice(1) : by;
  if (!Object.hasOwn(FACTS, key)) return rows;
  const fact: (row: Row) => string | number | null = FACTS[key as SortKey];
  const known: { readonly row: Row; readonly value: string | number }[] = [];
  const rest: Row[] = [];
  for (const row of rows) {
    const value = fact(row);
    if (value === null) rest.push(row);
    else known.push({ row, value });
  }
  const sign = down ? -1 : 1;
  known.sort((a, b) => sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  return [...known.map(({ row }) => row), ...rest];
}

export const listed = (rows: readonly Row[], { filter, sort }: ListQuery): readonly Row[] =>
  sorted(filter.trim() === '' ? rows : rows.filter(parseFilter(filter).holds), sort);

export const cutPage = <T>(all: readonly T[], from: number, count: number): Page<T> => ({
  count: all.length,
  rows: all.slice(from, from + count),
});

export function neighbours(all: readonly Row[], place: RowPlace): Pick<RolloutMessage, 'previous' | 'next'> {
  const at = all.findIndex((row) => rowKey(row) === rowKey(place));
  const near = (i: number) => (at >= 0 && all[i] ? rowPlace(all[i]) : null);
  return { previous: near(at - 1), next: near(at + 1) };
}
