// The numbers of an answer's tokens: probability, rank of surprise, mean, perplexity. Pure. The records hold the logprob
// of the sampled token only: no entropy and no alternatives can be shown.

export interface TokenStats {
  readonly count: number;
  readonly mean: number;
  /** exp(−mean). */
  readonly perplexity: number;
  /** Place in the answer by surprise: 1 is the least likely token. */
  readonly ranks: readonly number[];
  /** Places of the least likely tokens, least likely first. */
  readonly lowest: readonly number[];
}

const LOWEST = 5;

export function tokenStats(logprobs: readonly number[]): TokenStats | null {
  if (logprobs.length === 0) return null;
  const places = logprobs.map((_, i) => i).sort((a, b) => logprobs[a]! - logprobs[b]! || a - b);
  const ranks = Array.from<number>({ length: logprobs.length });
  places.forEach((place, rank) => (ranks[place] = rank + 1));
  const mean = logprobs.reduce((total, value) => total + value, 0) / logprobs.length;
  return { count: logprobs.length, mean, perplexity: Math.exp(-mean), ranks, lowest: places.slice(0, LOWEST) };
}

/** Steps of colour, from certain to most surprising: limits of the probability. */
export const STEPS = [0.9, 0.5, 0.2, 0.05, 0.01] as const;

/** 0: certain; STEPS.length: most surprising. */
export function surpriseStep(logprob: number): number {
  const probability = Math.exp(logprob);
  const step = STEPS.findIndex((limit) => probability >= limit);
  return step < 0 ? STEPS.length : step;
}

/** The same steps by rank: the most surprising 1 %, 5 %, 20 %, 50 % of the answer. */
export function rankStep(rank: number, count: number): number {
  const share = (rank - 1) / count;
  return share < 0.01 ? 5 : share < 0.05 ? 4 : share < 0.1 ? 3 : share < 0.2 ? 2 : share < 0.5 ? 1 : 0;
}
