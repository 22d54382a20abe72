// One rollout of a run as the lists of the viewer know it: small facts, no texts and no tokens. Pure; the server makes
// rows from the records, the page and the report show them.

import type { Outcome, StopReason } from '../../domain/rollout/ending.ts';
import type { SteeringAct } from '../../domain/run/steering.ts';
import { totalTokens } from '../../domain/rollout/turn.ts';

/** A rollout that has begun; `open` until its end is recorded. */
export type RowState = Outcome | 'open';

export interface Row {
  /** 0-based place of its query in the data set; null for a rollout that a client started directly. */
  readonly index: number | null;
  readonly query: string;
  /** The question's first words. */
  readonly title: string;
  /** 0-based. */
  readonly sample: number;
  /** 1-based. */
  readonly attempt: number;
  readonly state: RowState;
  /** Null while it is open. */
  readonly stop: StopReason | null;
  /** The reason of a failed or undecided rollout. */
  readonly reason: string | null;
  /** 1 right, 0 wrong, null not judged; one per finished turn that is an answer. */
  readonly success: readonly (0 | 1 | null)[];
  /** G_1, the return of the whole rollout; null unless it is complete. */
  readonly reward: number | null;
  /** Epoch milliseconds; null while it is open. */
  readonly endedAt: number | null;
  /** Null until the turns' records were looked at. */
  readonly turns: Glance | null;
  /** A person's message is in its context: it counts in no number of the run. */
  readonly steered?: true;
  /** A person gave a verdict or wrote a note on it, or had it played again. */
  readonly marks?: readonly Mark[];
  /** Only while it is open. */
  readonly doing?: Doing;
  /** A record of it that cannot be read. */
  readonly flaw?: string;
}

export type Mark = SteeringAct['act'];

/** The small facts of a rollout's turns, in order: one entry per turn where it is a list. */
export interface Glance {
  /** Null: unknown, because the server gave text without tokens. */
  readonly tokens: readonly (number | null)[];
  readonly ms: readonly number[];
  /** One letter per turn: `s` stop, `l` length, `a` abort. */
  readonly finish: string;
  /** The judge's reason; empty where a turn is not judged. */
  readonly reasons: readonly string[];
  /** The answer found by the judge in the last turn where it found one. */
  readonly extracted: string | null;
  readonly server: string | null;
  /** 0-based places of the turns that are answers; absent if all are: none called tools. */
  readonly answers?: readonly number[];
  /** The lowest and the highest weight version. */
  readonly versions: readonly [number, number];
}

/** The step that an open rollout waits for, from its files alone. */
export interface Doing {
  /** 1-based. */
  readonly turn: number;
  readonly what: 'answer' | 'judge' | 'end';
  /** Parts of the answer that are stored. */
  readonly chunks: number;
  /** Epoch milliseconds of the newest record. */
  readonly since: number;
}

/** Unique in its run. */
export const rowKey = ({ query, sample, attempt }: Pick<Row, 'query' | 'sample' | 'attempt'>): string =>
  `${sample}.${attempt}/${query}`;

/** In data set order, then by sample and attempt; those without a place in the data set are last, by id. */
export function inOrder(a: Row, b: Row): number {
  return (
    placeOf(a) - placeOf(b) ||
    (a.query < b.query ? -1 : a.query > b.query ? 1 : 0) ||
    a.sample - b.sample ||
    a.attempt - b.attempt
  );
}

/** Of each sample the last attempt: what counts. `rows` are in order. */
export function latest(rows: readonly Row[]): Row[] {
  return rows.filter(({ query, sample }, i) => rows[i + 1]?.query !== query || rows[i + 1]?.sample !== sample);
}

/** The place of the answer in the lists of its turns. */
export const placeOfAnswer = ({ answers }: Glance, answer: number): number =>
  answers === undefined ? answer : (answers[answer] ?? Infinity);

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
export const tokensOf = (row: Row): number | null => row.turns && totalTokens(row.turns.tokens);
export const msOf = (row: Row): number | null => row.turns && sum(row.turns.ms);
/** The last judged turn was right. */
export const endsRight = ({ success }: Row): boolean => success.findLast((s) => s !== null) === 1;

/** A person may have it played again. */
export const retried = ({ state }: Row): boolean => state === 'failed' || state === 'undecided';

const placeOf = ({ index }: Row): number => index ?? Number.MAX_SAFE_INTEGER;
