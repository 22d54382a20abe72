// The cells of an answer's tokens, each with the classes that colour it, and their numbers: rank of surprise, mean,
// perplexity. Pure, and made once per turn. The records hold the logprob of the sampled token only: no entropy and no
// alternatives can be shown.

import type { TokensMessage } from './messages.ts';

/** One token, or several that share the bytes of a character. */
export interface Cell {
  readonly from: number;
  /** One past its last token. */
  readonly to: number;
  /** The id where the text is not known. */
  readonly text: string;
  /** The probability of its least likely token. */
  readonly probability: string;
  readonly version: string;
}

export function cellsOf({ output: { ids, texts, lengths }, logprobs, versions }: TokensMessage): readonly Cell[] {
  let to = 0;
  return Array.from({ length: texts.length > 0 ? texts.length : ids.length }, (_, i): Cell => {
    const from = to;
    to += lengths?.[i] ?? 1;
    const version = versions.findIndex(({ end }) => from < end);
    return {
      ...{ from, to, text: texts[i] ?? `${ids[i]} ` },
      probability: logprobs[from] === undefined ? '' : `s${surpriseStep(Math.min(...logprobs.slice(from, to)))}`,
      version: `v${Math.max(0, version) % 4}`,
    };
  });
}

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
const STEPS = [0.9, 0.5, 0.2, 0.05, 0.01];

/** 0: certain; STEPS.length: most surprising. */
export function surpriseStep(logprob: number): number {
  const step = STEPS.findIndex((limit) => Math.exp(logprob) >= limit);
  return step < 0 ? STEPS.length : step;
}
