// The options of a caller of the judge, and what the comparison makes of them.

import type { LeafOptions } from './compare/leaf.ts';

export interface JudgeOptions {
  /** Decimal places at which a decimal stands for an exact value; default 6. Given, decimals are rounded too. */
  readonly decimals?: number;
  /** False: letters may be renamed. Default true. */
  readonly strict?: boolean;
  /** The answer was cut by a limit of tokens: only a closed box or a complete named answer counts. Default false. */
  readonly cut?: boolean;
  /** The text of the question: what it names may be counted. */
  readonly question?: string;
  /** Of an answer that was not found: say at which words the search for it ended. */
  readonly explain?: boolean;
}

const DEFAULT_DECIMALS = 6;

export const leafOptions = (options: JudgeOptions = {}): LeafOptions => ({
  decimals: options.decimals ?? DEFAULT_DECIMALS,
  decimalsGiven: options.decimals !== undefined,
  rename: options.strict === false,
  question: options.question ?? '',
});
