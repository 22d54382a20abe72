// A pair: one answer and its reference, without a model or a run.

import type { InputOutput, Tests } from './query.ts';

export interface PairOptions {
  /** The number of decimal places at which a decimal counts as an exact value. */
  readonly decimals?: number;
  /** False: letters may be renamed. */
  readonly strict?: boolean;
  /** A limit of length, or an abort, ended the answer. */
  readonly cut?: boolean;
  /** The text of the question: an answer may count what it names. */
  readonly question?: string;
  /** Say of an answer that was not found at which words the search for it ended. */
  readonly explain?: boolean;
}

export interface Pair {
  readonly id: string;
  /** A model's text. */
  readonly answer: string;
  readonly judge: 'math' | 'code';
  /** Any of them is right. Empty only for `code`. */
  readonly solutions: readonly string[];
  readonly inputOutput?: InputOutput;
  readonly tests?: Tests;
  readonly options?: PairOptions;
}
