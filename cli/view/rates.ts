// How fast a collection goes, from its counts over the last half minute: tokens of rollouts that ended per
// second, and how long the rest will take.

import type { CollectionProgress } from '../../domain/messages.ts';

const WINDOW_MS = 30_000;

export interface Rates {
  /** Null until something was seen to end. */
  readonly tokensPerSecond: number | null;
  readonly remainingMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly tokens: number;
  readonly done: number;
}

export function openRates(): (progress: CollectionProgress, nowMs: number) => Rates {
  const samples: Sample[] = [];
  return ({ counts, done, total, startedAt }, nowMs) => {
    if (samples.length === 0) {
      const age = nowMs - startedAt;
      // Whoever attaches late saw nothing end yet; another machine's clock may be wrong.
      if (age >= 0 && age < WINDOW_MS) samples.push({ atMs: startedAt, tokens: 0, done: 0 });
    }
    samples.push({ atMs: nowMs, tokens: counts.tokens, done });
    while (samples.length > 2 && samples[1]!.atMs < nowMs - WINDOW_MS) samples.shift();
    const first = samples[0]!;
    const tookMs = nowMs - first.atMs;
    const ended = done - first.done;
    if (tookMs <= 0 || ended <= 0) return { tokensPerSecond: null, remainingMs: null };
    return {
      tokensPerSecond: ((counts.tokens - first.tokens) / tookMs) * 1000,
      remainingMs: ((total - done) * tookMs) / ended,
    };
  };
}
