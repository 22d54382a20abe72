// The state of a collection as counts: exact under replay, and bounded whatever the number of rollouts.

import { entriesOfAnswers, type Outcome, OUTCOMES, type RolloutResult } from '../rollout/ending.ts';
import type { Boundary } from '../errors/reasons.ts';
import * as f from '../schema/fields.ts';
import { totalTokens } from '../rollout/turn-facts.ts';
import { countVerdict } from '../rollout/environment.ts';
import { VERDICT_COUNTS, type VerdictCounts, VERDICTS } from '../rollout/verdict.ts';

const FAILED_ROLLOUT = f.objectOf({
  query: f.NAME,
  sample: f.COUNT,
  outcome: f.oneOf(...OUTCOMES),
  reason: f.NAME,
  /** The boundary of the failure; absent unless the outcome is `failed`. */
  boundary: f.maybe(f.NAME as f.Test<Boundary>),
});

/** Rewards as sums, so that mean and spread follow, in any order of arrival up to rounding. */
const REWARD_COUNT = f.objectOf({
  count: f.COUNT,
  sum: f.NUMBER,
  squares: f.NUMBER,
  /** Σ (r − mean)², which keeps a small spread around a large mean. */
  deviations: f.NUMBER,
  min: f.NUMBER,
  max: f.NUMBER,
});
export type RewardCount = f.TypeOf<typeof REWARD_COUNT>;

interface RewardMoments {
  /** Null without rewards. */
  readonly mean: number | null;
  /** Standard deviation with n − 1, as of `stats`; null for fewer than two rewards. */
  readonly spread: number | null;
}

export function rewardMoments(at: RewardCount): RewardMoments {
  const { count, sum } = at;
  return {
    mean: count === 0 ? null : sum / count,
    spread: count < 2 ? null : Math.sqrt(at.deviations / (count - 1)),
  };
}

const SERIES = f.listOf(f.COUNT);
export const COUNTS = f.objectOf({
  /** Rollouts that ended, by how. */
  outcomes: f.objectOf({ complete: f.COUNT, undecided: f.COUNT, failed: f.COUNT, cancelled: f.COUNT }),
  /** Named reasons of rollouts that failed or could not be judged. */
  reasons: f.mapOf(f.COUNT),
  /** Failed rollouts by boundary; absent if there is none. */
  boundaries: f.maybe(f.mapOf(f.COUNT) as f.Test<Partial<Record<Boundary, number>>>),
  /** Judged turns by verdict and reason. */
  verdicts: VERDICT_COUNTS,
  /** Finished turns of ended rollouts. */
  turns: f.COUNT,
  /** Their output tokens; null: unknown, because a server gave text without tokens. */
  tokens: f.orNull(f.COUNT),
  /** Index t − 1: rollouts judged at turn t, right at turn t, and right at any turn up to t. */
  judgedAt: SERIES,
  rightAt: SERIES,
  rightBy: SERIES,
  /** Index t − 1: the rewards r_t that environments gave; absent if none did. */
  rewardAt: f.maybe(f.listOf(REWARD_COUNT)),
  /** Ended rollouts with a person's message in their context: they count in no series; absent if there is none. */
  steered: f.maybe(f.COUNT),
  /** The first failures, for people; at most 20. */
  failures: f.listOf(FAILED_ROLLOUT),
});
export type CollectionCounts = f.Mutable<f.TypeOf<typeof COUNTS>>;

const MAX_FAILURES = 20;

export function noCounts(): CollectionCounts {
  return {
    outcomes: Object.fromEntries(OUTCOMES.map((o) => [o, 0])) as Record<Outcome, number>,
    reasons: {},
    verdicts: {},
    turns: 0,
    tokens: 0,
    judgedAt: [],
    rightAt: [],
    rightBy: [],
    failures: [],
  };
}

/** Rollouts of `total` that count in the accuracy: all but those with a person's message in their context. */
export function countInAccuracy(total: number, { steered = 0 }: Pick<CollectionCounts, 'steered'>): number {
  return Math.max(0, total - steered);
}

export function countEnded(counts: CollectionCounts): number {
  return OUTCOMES.reduce((sum, o) => sum + counts.outcomes[o], 0);
}

/**
 * Adds one ended rollout. A rollout that was right once counts in `rightBy` of all later turns up to `numTurns`,
 * whatever its end; `judgedAt` and `rightAt` count only the turns at which it was judged. A steered one counts in none.
 */
export function addResult(counts: CollectionCounts, result: RolloutResult, numTurns: number): void {
  counts.outcomes[result.outcome]++;
  counts.turns += result.turns;
  counts.tokens = totalTokens([counts.tokens, result.tokens]);
  addVerdicts(counts.verdicts, result.verdicts ?? {});
  if (result.steered) counts.steered = (counts.steered ?? 0) + 1;
  else addSuccess(counts, result, numTurns);
  if (result.outcome === 'failed' || result.outcome === 'undecided') {
    const reason = result.reason ?? 'unknown';
    counts.reasons[reason] = (Object.hasOwn(counts.reasons, reason) ? counts.reasons[reason]! : 0) + 1;
    const { boundary } = result;
    if (boundary) (counts.boundaries ??= {})[boundary] = (counts.boundaries[boundary] ?? 0) + 1;
    if (counts.failures.length < MAX_FAILURES) {
      const { query, sample } = result.trajectory;
      counts.failures.push({ query, sample, outcome: result.outcome, reason, ...(boundary && { boundary }) });
    }
  }
}

function addSuccess(counts: CollectionCounts, result: RolloutResult, numTurns: number): void {
  // Answers are counted: turns that only called tools are none.
  const answers = entriesOfAnswers(result.success, result.called);
  answers.forEach((success, i) => {
    if (success === null) return;
    bump(counts.judgedAt, i);
    bump(counts.rightAt, i, success);
  });
  const rewards = result.turnRewards && entriesOfAnswers(result.turnRewards, result.called);
  rewards?.forEach((reward, i) => addReward((counts.rewardAt ??= []), i, reward));
  const firstRight = answers.indexOf(1);
  const turnsCounted = firstRight < 0 ? answers.length : Math.max(answers.length, numTurns);
  for (let i = 0; i < turnsCounted; i++) bump(counts.rightBy, i, firstRight >= 0 && i >= firstRight ? 1 : 0);
}

function addVerdicts(counts: VerdictCounts, more: VerdictCounts): void {
  for (const verdict of VERDICTS)
    for (const [reason, times] of Object.entries(more[verdict] ?? {})) countVerdict(counts, { verdict, reason }, times);
}

/** The counts of rollouts that `counts` and `more` counted apart: each rollout by one of them. */
export function addCounts(counts: CollectionCounts, more: CollectionCounts): void {
  for (const outcome of OUTCOMES) counts.outcomes[outcome] += more.outcomes[outcome];
  for (const [reason, n] of Object.entries(more.reasons))
    counts.reasons[reason] = (Object.hasOwn(counts.reasons, reason) ? counts.reasons[reason]! : 0) + n;
  for (const [boundary, n] of Object.entries(more.boundaries ?? {}) as [Boundary, number][])
    (counts.boundaries ??= {})[boundary] = (counts.boundaries[boundary] ?? 0) + n;
  addVerdicts(counts.verdicts, more.verdicts);
  counts.turns += more.turns;
  counts.tokens = totalTokens([counts.tokens, more.tokens]);
  for (const series of ['judgedAt', 'rightAt', 'rightBy'] as const)
    more[series].forEach((n, i) => bump(counts[series], i, n));
  if (more.steered !== undefined) counts.steered = (counts.steered ?? 0) + more.steered;
  more.rewardAt?.forEach((rewards, i) => addRewards((counts.rewardAt ??= []), i, rewards));
  counts.failures.push(...more.failures.slice(0, MAX_FAILURES - counts.failures.length));
}

const NO_REWARDS: RewardCount = { count: 0, sum: 0, squares: 0, deviations: 0, min: 0, max: 0 };

function addReward(series: RewardCount[], index: number, reward: number): void {
  addRewards(series, index, {
    ...{ count: 1, sum: reward, squares: reward * reward, deviations: 0 },
    ...{ min: reward, max: reward },
  });
}

function addRewards(series: RewardCount[], index: number, more: RewardCount): void {
  while (series.length <= index) series.push(NO_REWARDS);
  const { count, sum, squares, deviations, min, max } = series[index]!;
  if (more.count === 0) return;
  // Chan, Golub and LeVeque: the deviations of both parts, and those of their means.
  const apart = count === 0 ? 0 : more.sum / more.count - sum / count;
  const between = (apart * apart * count * more.count) / (count + more.count);
  series[index] = {
    count: count + more.count,
    sum: sum + more.sum,
    squares: squares + more.squares,
    deviations: deviations + more.deviations + between,
    min: count === 0 ? more.min : Math.min(min, more.min),
    max: count === 0 ? more.max : Math.max(max, more.max),
  };
}

function bump(series: number[], index: number, by = 1): void {
  while (series.length <= index) series.push(0);
  series[index] = series[index]! + by;
}
