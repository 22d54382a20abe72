// The speed of a collection, from its counts over the last half minute: tokens of ended rollouts per
// second, and the remaining time.

import type { CollectionProgress } from '../../domain/run/messages.ts';

const WINDOW_MS = 30_000;

export interface Rates {
  /** Null until the end of a rollout was observed, and if nobody knows the tokens. */
  readonly tokensPerSecond: number | null;
  readonly remainingMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly tokens: number | null;
  readonly done: number;
}

export function openRates(): (progress: CollectionProgress, nowMs: number) => Rates {
  const samples: Sample[] = [];
  return ({ counts, done, total, startedAt }, nowMs) => {
    if (samples.length === 0) {
      const age = nowMs - startedAt;
      // A user who attaches late has observed no end yet; another machine's clock may be wrong.
      if (age >= 0 && age < WINDOW_MS) samples.push({ atMs: startedAt, tokens: 0, done: 0 });
    }
    samples.push({ atMs: nowMs, tokens: counts.tokens, done });
    while (samples.length > 2 && samples[1]!.atMs < nowMs - WINDOW_MS) samples.shift();
    const first = samples[0]!;
    const tookMs = nowMs - first.atMs;
    const ended = done - first.done;
    if (tookMs <= 0 || ended <= 0) return { tokensPerSecond: null, remainingMs: null };
    return {
      tokensPerSecond:
        counts.tokens === null || first.tokens === null ? null : ((counts.tokens - first.tokens) / tookMs) * 1000,
      remainingMs: ((total - done) * tookMs) / ended,
    };
  };
}
