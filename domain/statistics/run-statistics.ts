// Every number of a run, from the summaries of its rollouts. Pure: the command line, the viewer and the report show the
// same object. Accuracy counts ended rollouts, the last attempt of each; a rollout that failed or could not be judged
// is named and never wrong.

import { OUTCOMES, type Outcome } from '../rollout/ending.ts';
import {
  type RolloutSummary,
  type RunSize,
  steeredCount,
  type SteeredCount,
  unsteered,
} from '../rollout/rollout-summary.ts';
import { callStatistics, type CallStatistics } from './calls.ts';
import { countNames, statisticsOfTurn, type TurnStatistics } from './by-turn.ts';
import { bareEstimate, type Estimate, queryMeanEstimate } from './estimate.ts';
import { provisional, type Provisional, totalOf } from './in-progress.ts';
import { clusteredMean, type Distribution, distributionOf, spreadOf } from './mean.ts';
import { namedStatistics } from './named.ts';
import {
  answersOf,
  byQuery,
  hasRolloutEnded,
  isScored,
  known,
  type QueryGroup,
  rightAtLast,
  rightBy,
} from './outcomes.ts';
import { majorityAtK, passAllK, passAtK } from './pass-at-k.ts';
import { timingStatistics, type TimingStatistics } from './timing.ts';

export interface RunStatistics {
  /** Rollouts of the run, without the steered ones; 0 if nobody knows. */
  readonly total: number;
  /** Rollouts that a person had a part in: left out of every number. */
  readonly steered: SteeredCount;
  readonly ended: number;
  /** Begun and not ended, by the records. */
  readonly inFlight: number;
  /** Ended rollouts with an earlier attempt that failed: their last attempt counts. */
  readonly retried: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Queries with an ended rollout. */
  readonly queries: number;
  /** The last turn that counts. */
  readonly atTurn: number;
  readonly byTurn: readonly TurnStatistics[];
  /** Rollouts right at any turn up to `atTurn`, of those of which that is known. */
  readonly right: { readonly count: number; readonly known: number };
  /** The answer of turn 1 alone counts. */
  readonly passAtKFirst: readonly Estimate[];
  /** Any turn up to `atTurn` counts; the same as turn 1 where one turn counts. */
  readonly passAtK: readonly Estimate[];
  /** pass@1 where what failed, was cancelled or could not be judged counts as wrong: no less than this is right. */
  readonly leftOutWrong: Estimate;
  /** The last judged turn up to `atTurn` counts, as pass@1; the same as turn 1 where one turn counts. */
  readonly lastAnswer: Estimate;
  readonly passAllK: readonly Estimate[];
  readonly majorityAtK: readonly Estimate[];
  /** G_1 of complete rollouts, with the spread (n − 1) of rollouts. */
  readonly returns: Estimate & {
    readonly spread: number | null;
    readonly least: number | null;
    readonly most: number | null;
  };
  /** Metrics and named rewards of a user's environment; empty without any, or if turns were not read. */
  readonly named: readonly Estimate[];
  /** outcome, stop reason and failure: `failed · failed · server-timeout`. */
  readonly endings: Readonly<Record<string, number>>;
  /** The answers' mean logprobs; null unless logprobs were read. */
  readonly meanLogprob: Distribution | null;
  /** The calls of each tool, by its name; empty without any, or if turns were not read. */
  readonly calls: readonly CallStatistics[];
  /** Null if turns were not read. */
  readonly timing: TimingStatistics | null;
  /** Null for a run that has ended, or whose size nobody knows. */
  readonly provisional: Provisional | null;
}

/** pass@k by turn 1, by any turn, and by the last one; each once where one turn counts. */
export const passesOf = ({ atTurn, passAtKFirst, passAtK, lastAnswer }: RunStatistics): readonly Estimate[] =>
  atTurn === 1 ? passAtK : [...passAtKFirst, ...passAtK, lastAnswer];

/** The numbers that are shares, in the order in which they are shown. */
export const sharesOf = (run: RunStatistics): readonly Estimate[] => [
  ...passesOf(run),
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
  shape: RunSize,
  options: StatisticsOptions = {},
): RunStatistics {
  const parts = statisticsInParts(begun, shape, options);
  for (;;) {
    const part = parts.next();
    if (part.done) return part.value;
  }
}

/** The same in parts, between which other work is done: of a long run each takes up to a quarter of a second. */
export function* statisticsInParts(
  begun: readonly RolloutSummary[],
  shape: RunSize,
  { ks = defaultKs(shape), atTurn = shape.numTurns }: StatisticsOptions = {},
): Generator<void, RunStatistics, void> {
  const rollouts = unsteered(begun);
  const ended = rollouts.filter(hasRolloutEnded);
  const groups = byQuery(ended);
  yield;
  const played = rollouts.reduce((most, { success }) => Math.max(most, success.length), 0);
  const hasTurns = rollouts.some(({ turns }) => turns.length > 0);
  const logprobs = rollouts.flatMap(({ turns }) =>
    turns.flatMap((t) => (t.logprobSum === null || !t.outputTokens ? [] : t.logprobSum / t.outputTokens)),
  );
  const byTurn: TurnStatistics[] = [];
  for (let turn = 1; turn <= played; turn++) {
    byTurn.push(statisticsOfTurn(groups, turn));
    yield;
  }
  const shares = atKs(groups, ks, atTurn);
  yield;
  return {
    total: Math.max(0, totalOf(shape) - (begun.length - rollouts.length)),
    steered: steeredCount(begun),
    ended: ended.length,
    inFlight: rollouts.length - ended.length,
    retried: ended.filter(({ attempt }) => attempt > 1).length,
    outcomes: { ...zeros(), ...countNames(ended.map(({ outcome }) => outcome!)) },
    queries: groups.length,
    atTurn,
    byTurn,
    right: rightOf(ended, atTurn),
    ...shares,
    returns: returnsOf(ended),
    named: namedStatistics(rollouts),
    endings: countNames(
      ended.map((r) => [r.outcome, r.stopReason, r.failure].filter((name) => name !== null).join(' · ')),
    ),
    meanLogprob: logprobs.length === 0 ? null : distributionOf(logprobs),
    calls: callStatistics(rollouts.flatMap(({ turns }) => turns)),
    timing: hasTurns ? timingStatistics(byQuery(rollouts)) : null,
    provisional: provisional(begun, shape, atTurn),
  };
}

export function defaultKs({ samples, epochs }: Pick<RunSize, 'samples' | 'epochs'>): number[] {
  const most = samples * epochs;
  return [...[1, 4, 8, 16].filter((k) => k < most), most];
}

function rightOf(ended: readonly RolloutSummary[], atTurn: number): RunStatistics['right'] {
  const success = known(ended.map((rollout) => rightBy(rollout, atTurn)));
  return { count: success.filter((one) => one === 1).length, known: success.length };
}

type OfRollout = (rollout: RolloutSummary) => 0 | 1 | null;

function atKs(groups: readonly QueryGroup[], ks: readonly number[], atTurn: number) {
  const several = atTurn > 1;
  const any = {
    of: several ? ` (any of ${atTurn} turns)` : '',
    said: several ? `right at any turn up to ${atTurn}` : 'right',
  };
  const first = { of: several ? ' (turn 1)' : '', said: 'right at turn 1' };
  const last = { of: several ? ' (last turn)' : '', said: 'right at the last judged turn' };
  const over = <T>(samples: readonly T[], name: string, definition: string, valueOf: (sample: T) => number | null) => {
    const values = known(samples.map(valueOf));
    const few = 'mean over queries; one with fewer known samples is left out';
    const named = { name, unit: 'queries', leftOut: samples.length - values.length } as const;
    return queryMeanEstimate({ ...named, definition: `${definition}; ${few}` }, values);
  };
  const countsBy = (rightOf: OfRollout) =>
    groups.map(({ rollouts }) => {
      let [n, right] = [0, 0];
      for (const rollout of rollouts) {
        const success = rightOf(rollout);
        if (success !== null) n++;
        if (success === 1) right++;
      }
      return { n, right };
    });
  const passes = (rightOf: OfRollout, { of, said }: typeof any, over1: readonly number[]) => {
    const samples = countsBy(rightOf);
    const formula = (k: number) =>
      k === 1 ? `the share c/n of samples that are ${said}` : `1 − C(n−c, k)/C(n, k), c of n samples ${said}`;
    return over1.map((k) => over(samples, `pass@${k}${of}`, formula(k), (s) => passAtK(s.n, s.right, k)));
  };
  const ofAny = countsBy((r) => rightBy(r, atTurn));
  const votes = groups.map(({ rollouts }) =>
    rollouts
      .filter((r) => rightBy(r, atTurn) !== null)
      .map((r) => ({
        answer: answersOf(r)[r.success.slice(0, atTurn).findLastIndex((one) => one !== null)]?.extracted ?? null,
        right: rightAtLast(r, atTurn) === 1,
      })),
  );
  // Both are pass@1 where k is 1.
  const more = ks.filter((k) => k > 1);
  const voted = votes.some((own) => own.some(({ answer }) => answer !== null));
  return {
    passAtKFirst: passes((r) => rightBy(r, 1), first, ks),
    passAtK: passes((r) => rightBy(r, atTurn), any, ks),
    leftOutWrong: queryMeanEstimate(
      {
        ...{ name: `pass@1${any.of}, left out as wrong`, unit: 'queries', leftOut: 0 },
        definition: `the share of ended rollouts that are ${any.said}; mean over queries`,
      },
      groups.flatMap(({ rollouts }) => {
        const judged = rollouts.filter((r) => !isScored(r));
        return judged.length === 0 ? [] : judged.filter((r) => rightBy(r, atTurn) === 1).length / judged.length;
      }),
    ),
    lastAnswer: passes((r) => rightAtLast(r, atTurn), last, [1])[0]!,
    passAllK: more.map((k) =>
      over(ofAny, `pass^${k}${any.of}`, `C(c, k)/C(n, k): all of k samples ${any.said}`, (s) =>
        passAllK(s.n, s.right, k),
      ),
    ),
    majorityAtK: more.map((k) => {
      const name = `maj@${k}${last.of}`;
      const definition = `the most frequent last answer of k samples is right, over all subsets; ties count by their mean`;
      const none = 'undefined: the judge extracted no answers, or turns were not read';
      return voted
        ? over(votes, name, definition, (own) => majorityAtK(own, k))
        : bareEstimate({ name, unit: 'queries', leftOut: groups.length, definition: none }, null, 0);
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
