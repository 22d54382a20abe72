// Judges an answer without a model or a workflow: for users who try the judge, and for a run that is judged again.
// Temporal is not involved, so retryable failures are retried here, a few times; then the answer is undecided.

import { JudgeError } from '../domain/errors/errors.ts';
import type { Pair } from '../domain/query/pair.ts';
import type { Query } from '../domain/query/query.ts';
import type { Verdict } from '../domain/rollout/verdict.ts';
import type { Judge } from './environment.ts';
import type { MathJudge } from './math-environment.ts';

export interface PairJudges {
  readonly math: Pick<MathJudge, 'judge'>;
  readonly code: Pick<Judge, 'judge'>;
}

export function judgePair(pair: Pair, { math, code }: PairJudges): Promise<Verdict> {
  const { id, answer, solutions, inputOutput, options } = pair;
  if (pair.judge === 'math') return judgeWithRetries(() => math.judge(answer, solutions, options));
  const query: Query = {
    queryId: id,
    prompt: { kind: 'text', text: '' },
    task: 'code',
    solutions,
    ...(inputOutput && { inputOutput }),
  };
  const { signal } = new AbortController();
  return judgeWithRetries(() => code.judge(query, answer, { signal, cut: options?.cut ?? false }));
}

const TRIES = 3;

/** A retryable failure that persists leaves the answer undecided; any other failure is thrown. */
export async function judgeWithRetries(judge: () => Promise<Verdict>): Promise<Verdict> {
  for (let n = 1; ; n++) {
    try {
      return await judge();
    } catch (error) {
      if (!(error instanceof JudgeError) || !error.retryable) throw error;
      if (n >= TRIES) return { verdict: 'undecided', reason: error.reason };
    }
  }
}
