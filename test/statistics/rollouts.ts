// Summaries made up for a test: one line says which turns were right, which answers were extracted.

import type { Outcome } from '../../domain/rollout/ending.ts';
import type { RolloutSummary, RunSize, TurnSummary } from '../../domain/rollout/rollout-summary.ts';

export const SHAPE: RunSize = { queries: 4, samples: 4, epochs: 1, numTurns: 1, stop: 'always' };

export function turnOf(turn: number, success: 0 | 1 | null, part: Partial<TurnSummary> = {}): TurnSummary {
  return {
    turn,
    verdict: success === null ? 'undecided' : success === 1 ? 'right' : 'wrong',
    reason: success === 1 ? 'equal' : 'different',
    extracted: null,
    reward: success === null ? null : 2 * success - 1,
    outputTokens: 10,
    contextTokens: 5,
    finish: 'stop',
    versionStart: 0,
    versionEnd: 0,
    server: null,
    tries: 1,
    startedAt: 1000 * turn,
    finishedAt: 1000 * turn + 500,
    judgeMs: 3,
    logprobSum: null,
    ...part,
  };
}

export function rolloutOf(
  query: string,
  success: readonly (0 | 1 | null)[],
  part: Partial<RolloutSummary> & { readonly answers?: readonly (string | null)[] } = {},
): RolloutSummary {
  const { answers, ...rest } = part;
  const outcome: Outcome | null = part.outcome === undefined ? 'complete' : part.outcome;
  const turns = success.map((one, i) => turnOf(i + 1, one, { extracted: answers?.[i] ?? null }));
  return {
    query,
    index: 0,
    sample: 0,
    attempt: 1,
    outcome,
    stopReason: outcome === 'complete' ? 'max-turns' : outcome,
    failure: outcome === 'failed' ? 'server-timeout' : null,
    success,
    returns: outcome === 'complete' ? turns.map(({ reward }) => reward ?? 0) : [],
    turns,
    finishedAt: outcome === null ? null : 9000,
    ...rest,
  };
}

const ANSWERS = [
  ['q1', [1, 1, 1, 0], ['42', '42', '42', '41']],
  ['q2', [0, 1, 0, 0], ['7', '9', '8', '8']],
  ['q3', [0, 0, 0, 0], ['5', '5', '6', null]],
  ['q4', [1, 1, 1, 1], ['3', '3', '3', '3']],
] as const;

/** The worked example: 4 queries × 4 samples of one turn. */
export const WORKED: readonly RolloutSummary[] = ANSWERS.flatMap(([query, right, answers], index) =>
  right.map((one, sample) => rolloutOf(query, [one], { index, sample, answers: [answers[sample]!] })),
);
