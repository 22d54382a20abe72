// Every number of a run, from the summaries of its rollouts. Pure: the command line, the viewer and the report show the
// same object. Accuracy counts ended rollouts, the last attempt of each; a rollout that failed or could not be judged
// is named and never wrong.

import { OUTCOMES, type Outcome } from '../domain/rollout/ending.ts';
import {
  type RolloutSummary,
  type RunShape,
  steeredCount,
  type SteeredCount,
  unsteered,
} from '../domain/rollout/rollout-summary.ts';
import { callStatistics, type CallStatistics } from './calls.ts';
import { counted, turnStatistics, type TurnStatistics } from './by-turn.ts';
import { bareEstimate, type Estimate, queryMeanEstimate, shareEstimate } from './estimate.ts';
import { provisional, type Provisional } from './in-progress.ts';
import { clusteredMean, type Distribution, distributionOf, meanOf, spreadOf } from './mean.ts';
import { answersOf, byQuery, hasEnded, known, type QueryGroup, rightAtLast, rightBy } from './outcomes.ts';
import { majorityAtK, passAllK, passAtK } from './pass-at-k.ts';
import { totalOf } from './play-order.ts';
import { timingStatistics, type TimingStatistics } from './timing.ts';

export interface RunStatistics {
  /** Rollouts of the run, without the steered ones; 0 if nobody knows. */
  readonly total: number;
  /** Rollouts that a person had a part in: left out of every number. */
  readonly steered: SteeredCount;
  readonly ended: number;
  readonly inFlight: number;
  /** Ended rollouts with an earlier attempt that failed: their last attempt counts. */
  readonly retried: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Queries with an ended rollout. */
  readonly queries: number;
  /** `success` of pass@k and of the means over queries: right at any turn up to this one. */
  readonly atTurn: number;
  readonly byTurn: readonly TurnStatistics[];
  readonly solved: Estimate;
  readonly lastAnswer: Estimate;
  readonly meanOverQueries: Estimate;
  readonly passAtK: readonly Estimate[];
  readonly passAllK: readonly Estimate[];
  readonly majorityAtK: readonly Estimate[];
  /** G_1 of complete rollouts, with the spread (n − 1) of rollouts. */
  readonly returns: Estimate & {
    readonly spread: number | null;
    readonly least: number | null;
    readonly most: number | null;
  };
  /** outcome, stop reason and failure: `failed · failed · server-timeout`. */
  readonly endings: Readonly<Record<string, number>>;
  /** Of the answers' mean logprob; null unless logprobs were read. */
  readonly meanLogprob: Distribution | null;
  /** Of tools, by name; empty without any, or if turns were not read. */
  readonly calls: readonly CallStatistics[];
  /** Null if turns were not read. */
  readonly timing: TimingStatistics | null;
  /** Null for a run that has ended, or whose size nobody knows. */
  readonly provisional: Provisional | null;
}

/** The numbers that are shares, in the order in which they are shown. */
export const sharesOf = (run: RunStatistics): readonly Estimate[] => [
  run.solved,
  run.lastAnswer,
  run.meanOverQueries,
  ...run.passAtK,
  ...run.passAllK,
  ...run.majorityAtK,
];

export interface StatisticsOptions {
  /** Default: 1, and the samples of a query if there are more. */
  readonly ks?: readonly number[];
  /** Default: the last turn. */
  readonly atTurn?: number;
}

/** `begun`: begun rollouts, the last attempt of each. */
export function runStatistics(
  begun: readonly RolloutSummary[],
  shape: RunShape,
  { ks = defaultKs(shape), atTurn = shape.numTurns }: StatisticsOptions = {},
): RunStatistics {
  const rollouts = unsteered(begun);
  const ended = rollouts.filter(hasEnded);
  const groups = byQuery(ended);
  const played = rollouts.reduce((most, { success }) => Math.max(most, success.length), 0);
  const hasTurns = rollouts.some(({ turns }) => turns.length > 0);
  const logprobs = rollouts.flatMap(({ turns }) =>
    turns.flatMap((t) => (t.logprobSum === null || !t.outputTokens ? [] : t.logprobSum / t.outputTokens)),
  );
  return {
    total: Math.max(0, totalOf(shape) - (begun.length - rollouts.length)),
    steered: steeredCount(begun),
    ended: ended.length,
    inFlight: rollouts.length - ended.length,
    retried: ended.filter(({ attempt }) => attempt > 1).length,
    outcomes: { ...zeros(), ...counted(ended.map(({ outcome }) => outcome!)) },
    queries: groups.length,
    atTurn,
    byTurn: turnStatistics(groups, played),
    ...shares(groups, ended.length, atTurn),
    ...atKs(groups, ks, atTurn),
    returns: returnsOf(ended),
    endings: counted(
      ended.map((r) => [r.outcome, r.stopReason, r.failure].filter((name) => name !== null).join(' · ')),
    ),
    meanLogprob: logprobs.length === 0 ? null : distributionOf(logprobs),
    calls: callStatistics(rollouts.flatMap(({ turns }) => turns)),
    timing: hasTurns ? timingStatistics(byQuery(rollouts)) : null,
    provisional: provisional(begun, shape, atTurn),
  };
}

export function defaultKs({ samples, epochs }: Pick<RunShape, 'samples' | 'epochs'>): number[] {
  const most = samples * epochs;
  return [...[1, 4, 8, 16].filter((k) => k < most), most];
}

function shares(groups: readonly QueryGroup[], ended: number, atTurn: number) {
  const success = groups.map(({ rollouts }) => known(rollouts.map((r) => rightBy(r, atTurn))));
  const last = groups.map(({ rollouts }) => known(rollouts.map((r) => rightAtLast(r, atTurn))));
  const used = success.reduce((sum, values) => sum + values.length, 0);
  const perQuery = success.filter((values) => values.length > 0).map((values) => meanOf(values).value!);
  const unit = 'rollouts';
  return {
    solved: shareEstimate(
      {
        name: 'solved',
        unit,
        leftOut: ended - used,
        definition: `right at any turn up to ${atTurn} / ended rollouts of which that is known; the mean over rollouts`,
      },
      success,
    ),
    lastAnswer: shareEstimate(
      {
        name: 'lastAnswer',
        unit,
        leftOut: ended - used,
        definition: `right at the last judged turn up to ${atTurn} / ended rollouts of which that is known`,
      },
      last,
    ),
    meanOverQueries: queryMeanEstimate(
      {
        name: 'meanOverQueries',
        unit: 'queries',
        leftOut: groups.length - perQuery.length,
        definition: 'mean over queries of right / known samples (mean@k, avg@k, pass@1[avg-of-k]: one number)',
      },
      perQuery,
      't',
    ),
  };
}

function atKs(groups: readonly QueryGroup[], ks: readonly number[], atTurn: number) {
  const samples = groups.map(({ rollouts }) => {
    const own = rollouts.filter((r) => rightBy(r, atTurn) !== null);
    const right = own.filter((r) => rightBy(r, atTurn) === 1).length;
    const votes = own.map((r) => ({
      answer: answersOf(r)[r.success.slice(0, atTurn).findLastIndex((one) => one !== null)]?.extracted ?? null,
      right: rightAtLast(r, atTurn) === 1,
    }));
    return { n: own.length, right, votes };
  });
  const over = (
    name: string,
    definition: string,
    valueOf: (sample: (typeof samples)[number]) => number | null,
  ): Estimate => {
    const values = known(samples.map(valueOf));
    const named = { name, unit: 'queries', leftOut: samples.length - values.length, definition } as const;
    return queryMeanEstimate(named, values, 'bootstrap');
  };
  const few = 'queries with fewer known samples are left out';
  const votes = samples.some((s) => s.votes.some(({ answer }) => answer !== null));
  return {
    passAtK: ks.map((k) =>
      over(`pass@${k}`, `mean over queries of 1 − C(n−c, k)/C(n, k); ${few}`, (s) => passAtK(s.n, s.right, k)),
    ),
    passAllK: ks.map((k) =>
      over(`pass^${k}`, `mean over queries of C(c, k)/C(n, k): all of k samples right; ${few}`, (s) =>
        passAllK(s.n, s.right, k),
      ),
    ),
    majorityAtK: ks.map((k) => {
      const definition = `the most frequent last answer of k samples is right, over all subsets; ties count by their mean; ${few}`;
      const none = 'undefined: the judge extracted no answers, or turns were not read';
      return votes
        ? over(`maj@${k}`, definition, (s) => majorityAtK(s.votes, k))
        : bareEstimate({ name: `maj@${k}`, unit: 'queries', leftOut: groups.length, definition: none }, null, 0);
    }),
  };
}

function returnsOf(ended: readonly RolloutSummary[]): RunStatistics['returns'] {
  const groups = byQuery(ended.filter(({ returns }) => returns.length > 0));
  const clusters = groups.map(({ rollouts }) => rollouts.map(({ returns }) => returns[0]!));
  const all = clusters.flat();
  const used = all.length;
  const { value, standardError, interval } = clusteredMean(clusters);
  return {
    name: 'return',
    value,
    n: used,
    unit: 'rollouts',
    leftOut: ended.length - used,
    standardError,
    interval,
    method: interval ? 't' : null,
    definition: 'mean of G_1, the discounted sum of the turn rewards, of complete rollouts',
    spread: spreadOf(all),
    least: used === 0 ? null : all.reduce((a, b) => Math.min(a, b)),
    most: used === 0 ? null : all.reduce((a, b) => Math.max(a, b)),
  };
}

const zeros = () => Object.fromEntries(OUTCOMES.map((o) => [o, 0])) as Record<Outcome, number>;
