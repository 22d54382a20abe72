// The interface of every environment: it judges answers. Three outcomes, never an exception for a bad answer.

import type { Query } from '../domain/query.ts';
import type { Verdict } from '../domain/verdict.ts';

export interface JudgeCall {
  readonly signal: AbortSignal;
  /** A length limit or an abort cut the answer. Default: false. */
  readonly cut?: boolean;
}

export interface Environment {
  /**
   * Right, wrong or undecided, with a reason. Model text is hostile: the call always ends in bounded time and memory.
   * Throws JudgeError only if the judge itself is broken.
   */
  judge(query: Query, answer: string, call: JudgeCall): Promise<Verdict>;
  /** Ends every process it owns. */
  close(): Promise<void>;
}
