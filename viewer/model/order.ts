// The order of the list of rollouts. Pure. Rows whose fact is unknown are last, whatever the direction; equal rows stay
// in data set order.

import { msOf, type Row, tokensOf } from './row.ts';

/** The columns that a list can be sorted by. */
const FACTS = {
  query: (row) => row.query,
  outcome: (row) => row.state,
  turns: (row) => row.success.length,
  right: (row) => row.success.findIndex((s) => s === 1) + 1 || null,
  reward: (row) => row.reward,
  tokens: tokensOf,
  seconds: msOf,
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
