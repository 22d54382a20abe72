// One rollout of a run as the lists of the viewer know it: its row with what people said of it.
// Pure; the page and the report show them.

import type { RolloutRow, RowState } from '../../domain/rollout/rollout-row.ts';
import type { Priced } from '../../domain/statistics/timing.ts';
import type { SteeringAct } from '../../domain/run/steering.ts';
import { totalTokens } from '../../domain/rollout/turn-facts.ts';

export type { RowState };

export interface Row extends RolloutRow {
  /** A person gave a verdict or wrote a note on it, or had it played again. */
  readonly marks?: readonly Mark[];
}

export type Mark = SteeringAct['act'];

/** Unique in its run. */
export const rowKey = ({ query, sample, attempt }: Place): string => `${sample}.${attempt}/${query}`;

/** Without the rest of a row. */
export const rowPlace = ({ query, sample, attempt }: Place): Place => ({ query, sample, attempt });
type Place = Pick<Row, 'query' | 'sample' | 'attempt'>;

/** Rows are in data set order, then by sample and attempt; those without a place in the data set are last, by id. */
export function compareRows(a: Row, b: Row): number {
  return (
    orderOf(a) - orderOf(b) ||
    (a.query < b.query ? -1 : a.query > b.query ? 1 : 0) ||
    a.sample - b.sample ||
    a.attempt - b.attempt
  );
}

/** The last attempt of each sample, which is the one that counts. `rows` are in order. */
export function latest(rows: readonly Row[]): Row[] {
  return rows.filter(({ query, sample }, i) => rows[i + 1]?.query !== query || rows[i + 1]?.sample !== sample);
}

/** The place of the answer in the lists of its turns. */
export const placeOfAnswer = ({ answers }: Row['turns'], answer: number): number =>
  answers === undefined ? answer : (answers[answer] ?? Infinity);

export const addUp = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
export const rowTokens = (row: Row): number | null => totalTokens(row.turns.tokens);
/** The part of each turn that has a price. */
export const pricedTurns = ({ turns: { tokens, context, cached } }: Row): Priced['turns'] =>
  tokens.map((outputTokens, i) => ({
    ...{ outputTokens, contextTokens: context[i] ?? null },
    ...(typeof cached?.[i] === 'number' && { cachedTokens: cached[i] }),
  }));
export const rowMs = (row: Row): number => addUp(row.turns.ms);
/** The last judged turn was right. */
export const endsRight = ({ success }: Row): boolean => success.findLast((s) => s !== null) === 1;

const orderOf = ({ index }: Row): number => index ?? Number.MAX_SAFE_INTEGER;
