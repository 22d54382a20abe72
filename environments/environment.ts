// The interface of every environment: it judges answers. Three outcomes, never an exception for a bad answer.

import type { Query } from '../domain/query.ts';
import type { Verdict } from '../domain/verdict.ts';

export interface JudgeCall {
  readonly signal: AbortSignal;
  /** The answer did not end by itself: a limit of length, or an abort, cut it. Absent means false. */
  readonly cut?: boolean;
}

export interface Environment {
  /**
   * Right, wrong or undecided, with a reason. Model text is hostile: whatever it holds, the call ends
   * in bounded time and memory. Throws JudgeError only when the judge itself is broken.
   */
  judge(query: Query, answer: string, call: JudgeCall): Promise<Verdict>;
  /** Ends every process it owns. */
  close(): Promise<void>;
}
