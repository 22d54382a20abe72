// The options of a caller of the judge, and what the comparison makes of them.

import { listedChoices } from '../../domain/text/choices.ts';
import { plainSigns } from '../../domain/text/plain-signs.ts';
import type { LeafOptions } from './compare/leaf.ts';
import { percentInOneWord } from './find/percent.ts';

export interface JudgeOptions {
  /** Decimal places at which a decimal stands for an exact value; default 6. Given, decimals are rounded too. */
  readonly decimals?: number;
  /** False: letters may be renamed. Default true. */
  readonly strict?: boolean;
  /** The answer was cut by a limit of tokens: only a closed box or a complete named answer counts. Default false. */
  readonly cut?: boolean;
  /** The text of the question: the unit it asks for, the numbers it gives, the choices it lists. */
  readonly question?: string;
  /** Say also where the answer was found and with what it was compared. Default false. */
  readonly explain?: boolean;
}

const DEFAULT_DECIMALS = 6;
/** The end of a question says what it asks for. */
const QUESTION_CHARS = 2_000;

export const leafOptions = (options: JudgeOptions = {}): LeafOptions => ({
  decimals: options.decimals ?? DEFAULT_DECIMALS,
  decimalsGiven: options.decimals !== undefined,
  rename: options.strict === false,
  question: percentInOneWord(plainSigns((options.question ?? '').slice(-QUESTION_CHARS))),
  choices: listedChoices(options.question ?? ''),
});
