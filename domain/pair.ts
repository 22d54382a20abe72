// A pair: one answer and what it is judged by, without a model or a run.

import type { InputOutput } from './query.ts';

export interface PairOptions {
  /** Decimal places at which a decimal stands for an exact value. */
  readonly decimals?: number;
  /** False: letters may be renamed. */
  readonly strict?: boolean;
  /** The answer did not end by itself: a limit of length, or an abort, cut it. */
  readonly cut?: boolean;
  /** The text of the question: an answer may count what it names. */
  readonly question?: string;
}

export interface Pair {
  readonly id: string;
  /** A model's text. */
  readonly answer: string;
  readonly judge: 'math' | 'code';
  /** Any of them is right. Empty only for `code`. */
  readonly solutions: readonly string[];
  readonly inputOutput?: InputOutput;
  readonly options?: PairOptions;
}
