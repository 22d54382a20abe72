// Tokens and times of turns: percentiles, speed, and the seconds in which at least one answer was generated (overlap
// counted once). Of finished turns, also of rollouts in flight.

import type { RolloutSummary, TurnSummary } from '../rollout/rollout-summary.ts';
import { totalTokens } from '../rollout/turn-facts.ts';
import type { Estimate } from './estimate.ts';
import { type Distribution, distributionOf, type Interval, percentile } from './mean.ts';
import { known, type QueryGroup } from './outcomes.ts';
import { randomWords } from '../run/shuffle.ts';

export interface TimingStatistics {
  /** Per turn. */
  readonly outputTokens: Distribution;
  /** Output tokens of all turns. */
  readonly tokens: number | null;
  readonly contextTokens: Distribution;
  /** Tokens of all turns, as far as the endpoint counts them; null if it never does. */
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly seconds: Distribution;
  readonly tokensPerSecond: Distribution;
  readonly judgeSeconds: Distribution;
  /** Turns whose generation took more than one attempt. */
  readonly retried: number;
  /** Seconds in which at least one answer was generated. */
  readonly busySeconds: number;
  /** Output tokens per busy second; null also if the tokens of any turn are unknown, like the two below. */
  readonly throughput: number | null;
  /** Output tokens of a query's rollouts, per rollout of it that was right at any turn. */
  readonly tokensPerRight: Estimate;
}

const seconds = ({ startedAt, finishedAt }: TurnSummary): number => Math.max(0, finishedAt - startedAt) / 1000;

export function timingStatistics(groups: readonly QueryGroup[]): TimingStatistics {
  const turns = groups.flatMap(({ rollouts }) => rollouts.flatMap((r) => r.turns));
  const timed = turns.filter((turn) => seconds(turn) > 0);
  const outputTokens = distributionOf(known(turns.map((turn) => turn.outputTokens)));
  const total = totalTokens(turns.map((turn) => turn.outputTokens));
  const busySeconds = busyMs(turns) / 1000;
  return {
    outputTokens,
    tokens: total,
    contextTokens: distributionOf(known(turns.map((turn) => turn.contextTokens))),
    cachedTokens: sumOf(turns.flatMap((turn) => turn.cachedTokens ?? [])),
    reasoningTokens: sumOf(turns.flatMap((turn) => turn.reasoningTokens ?? [])),
    seconds: distributionOf(turns.map(seconds)),
    tokensPerSecond: distributionOf(
      timed.flatMap((turn) => (turn.outputTokens === null ? [] : turn.outputTokens / seconds(turn))),
    ),
    judgeSeconds: distributionOf(known(turns.map(({ judgeMs }) => judgeMs)).map((ms) => ms / 1000)),
    retried: turns.filter(({ tries }) => tries > 1).length,
    busySeconds,
    throughput: busySeconds > 0 && total !== null ? total / busySeconds : null,
    tokensPerRight: tokensPerRight(groups),
  };
}

const sumOf = (counts: readonly number[]): number | null =>
  counts.length === 0 ? null : counts.reduce((sum, value) => sum + value, 0);

/** Length of the union of all spans from start to end. */
function busyMs(turns: readonly TurnSummary[]): number {
  const spans = turns.map(({ startedAt, finishedAt }) => [startedAt, finishedAt] as const).sort((a, b) => a[0] - b[0]);
  let busy = 0;
  let until = -Infinity;
  for (const [start, end] of spans) {
    busy += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return busy;
}

function tokensPerRight(groups: readonly QueryGroup[]): Estimate {
  const tokens = groups.map(({ rollouts }) => totalTokens(rollouts.map(tokensOf)));
  const right = groups.map(({ rollouts }) => rollouts.filter(({ success }) => success.includes(1)).length);
  const allTokens = totalTokens(tokens);
  const allRight = right.reduce((sum, value) => sum + value, 0);
  const isKnown = allTokens !== null && allRight > 0;
  const interval = isKnown ? bootstrapRatio(known(tokens), right) : null;
  return {
    name: 'tokensPerRight',
    value: isKnown ? allTokens / allRight : null,
    n: groups.length,
    unit: 'queries',
    leftOut: 0,
    standardError: null,
    interval,
    method: interval ? 'bootstrap' : null,
    definition: 'output tokens of all finished turns / rollouts that were right at any turn',
  };
}

const tokensOf = ({ turns }: RolloutSummary): number | null =>
  totalTokens(turns.map(({ outputTokens }) => outputTokens));

export interface Prices {
  /** Per million tokens. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** The part of a rollout that has a price. */
export interface Priced {
  readonly turns: readonly Pick<TurnSummary, 'contextTokens' | 'outputTokens' | 'cachedTokens'>[];
}

/**
 * Least and greatest cost. Both are equal where an endpoint counts its cached tokens; else everything but the new part of
 * each context was cached, or nothing. Null: nobody knows, because a server gave text without tokens.
 */
export function costBounds(rollouts: Iterable<Priced>, { input, cached, output }: Prices): [number, number] | null {
  let [least, most] = [0, 0];
  for (const { turns } of rollouts) {
    let before = 0;
    for (const { contextTokens, outputTokens, cachedTokens } of turns) {
      if (contextTokens === null || outputTokens === null) return null;
      const costWith = (repeated: number) =>
        repeated * Math.min(cached, input) + (contextTokens - repeated) * input + outputTokens * output;
      least += costWith(Math.min(cachedTokens ?? before, contextTokens));
      most += costWith(Math.min(cachedTokens ?? 0, contextTokens));
      before = contextTokens + outputTokens;
    }
  }
  return [least / 1e6, most / 1e6];
}

const MOST_DRAWS = 1000;
const LEAST_DRAWS = 200;
/** Draws of single queries in all: with many queries fewer resamples are needed. */
const MOST_WORK = 4_000_000;

/**
 * 2.5 and 97.5 % quantiles of Σ top / Σ bottom over resampled queries. Null with fewer than two queries; a resample
 * without a bottom is left out.
 */
export function bootstrapRatio(tops: readonly number[], bottoms: readonly number[]): Interval | null {
  const q = tops.length;
  if (q < 2) return null;
  const draws = Math.round(Math.min(MOST_DRAWS, Math.max(LEAST_DRAWS, MOST_WORK / q)));
  const next = randomWords(0);
  const ratios: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    let [top, bottom] = [0, 0];
    for (let i = 0; i < q; i++) {
      const at = Math.floor((next() / 0x1_0000_0000) * q);
      top += tops[at]!;
      bottom += bottoms[at]!;
    }
    if (bottom !== 0) ratios.push(top / bottom);
  }
  ratios.sort((a, b) => a - b);
  const [low, high] = [percentile(ratios, 0.025), percentile(ratios, 0.975)];
  return low === null || high === null ? null : [low, high];
}
