// The numbers of a run from its rows: by turn those of `everturn stats`, and what rows say beside them: how rollouts ended,
// the judge's reasons, tokens and times. Pure. Of a sample the last attempt counts. Leaves out what needs every turn's
// record: majority votes, rewards, and times by server.

import type { StopReason } from '../../domain/rollout/ending.ts';
import { type RolloutSummary, type RunShape, unsteered } from '../../domain/rollout/rollout-summary.ts';
import { totalTokens } from '../../domain/rollout/turn.ts';
import { UNNUMBERED } from '../../domain/weights/weight-version.ts';
import { counted, statisticsOfTurn, type TurnStatistics } from '../../statistics/by-turn.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { provisional, type Provisional } from '../../statistics/in-progress.ts';
import { type Distribution, distributionOf, meanOf } from '../../statistics/mean.ts';
import { byQuery, hasEnded, known, rightBy } from '../../statistics/outcomes.ts';
import { namedStatistics } from '../../statistics/named.ts';
import { passesOf, runStatistics } from '../../statistics/run-statistics.ts';
import { latest, msOf, placeOfAnswer, type Row, type RowState, sum, tokensOf } from './row.ts';

export interface TurnSummary extends TurnStatistics {
  /** Answers that were cut at their limit. */
  readonly cut: number;
  /** Of an answer. */
  readonly tokens: Distribution;
  readonly ms: Distribution;
}

export interface EndCount {
  readonly state: RowState;
  readonly stop: StopReason | null;
  readonly reason: string | null;
  readonly count: number;
}

/** The version of the weights that trained on a rollout; undefined while none has. */
export type TrainedAt = (row: Pick<Row, 'index' | 'sample'>) => number | undefined;

/** Ended rollouts whose first answer is of one weight version, or of one of several next to each other. */
export interface VersionSummary {
  /** The lowest. */
  readonly version: number;
  readonly rollouts: number;
  /** Means; null where none is known. */
  readonly meanReturn: number | null;
  readonly right: number | null;
  /** Of an answer. */
  readonly tokens: number | null;
  /** Versions from the first answer of a rollout to the step that trained on it; null without a feed. */
  readonly staleness: number | null;
}

export interface RunSummary {
  /** Rollouts of the run, begun or not. */
  readonly total: number;
  readonly begun: number;
  readonly ended: number;
  /** Ended rollouts with a person's message in their context: in no number by turn. */
  readonly steered: number;
  /** Ways in which rollouts ended, most frequent first. */
  readonly ends: readonly EndCount[];
  /** Of ended rollouts. */
  readonly turns: readonly TurnSummary[];
  /** Ascending; empty where all rollouts began with one version. */
  readonly versions: readonly VersionSummary[];
  /** G_1 of complete rollouts; null if there is none. */
  readonly meanReturn: number | null;
  /** Output tokens, null if unknown, and milliseconds of generation. */
  readonly tokens: number | null;
  readonly ms: number;
  /** The judge's reasons, by number of turns, most frequent first. */
  readonly reasons: readonly (readonly [string, number])[];
  /** Rollouts by server. */
  readonly servers: readonly (readonly [string, number])[];
  /** With several samples of a query. */
  readonly passAtK: readonly Estimate[];
  /** Metrics and named rewards of a user's environment. */
  readonly named: readonly Estimate[];
  /** Null for a run that has ended. */
  readonly provisional: Provisional | null;
}

const NONE = {};

export function summaries(rows: readonly Row[]): RolloutSummary[] {
  return latest(rows).map(
    ({ state, stop, reason, success, reward, endedAt, steered, index, query, sample, attempt, turns }) => ({
      ...{ index, query, sample, attempt, success, turns: [], finishedAt: endedAt },
      outcome: state === 'open' ? null : state,
      stopReason: stop,
      failure: reason,
      returns: reward === null ? [] : [reward],
      named: turns.named ?? turns.ms.map(() => NONE),
      ...(steered && { steered: 'message' as const }),
    }),
  );
}

const MAX_TURNS = 200;

/** `rows` in order. In parts: of a long run each takes up to a quarter of a second. */
export function* summaryInParts(
  rows: readonly Row[],
  shape: RunShape,
  trainedAt?: TrainedAt,
): Generator<void, RunSummary, void> {
  const begun = latest(rows);
  const ended = begun.filter(({ state }) => state !== 'open');
  yield;
  const all = summaries(rows);
  const own = ended.filter(({ steered }) => !steered);
  yield;
  const groups = byQuery(unsteered(all).filter(hasEnded));
  const longest = begun.reduce((most, { success }) => Math.max(most, success.length), 0);
  const turns: TurnSummary[] = [];
  for (let turn = 1; turn <= Math.max(longest, Math.min(shape.numTurns, MAX_TURNS)); turn++) {
    yield;
    turns.push({ ...statisticsOfTurn(groups, turn), ...answersAt(own, turn - 1) });
  }
  yield;
  const inProgress = provisional(all, shape, shape.numTurns);
  yield;
  const several = shape.samples * shape.epochs > 1;
  const passAtK = several ? passesOf(runStatistics(all, shape)) : [];
  yield;
  const versions = versionsOf(rows, trainedAt, MOST_VERSIONS);
  const returns = known(own.map(({ reward }) => reward));
  return {
    total: Math.max(shape.queries * shape.samples * shape.epochs, begun.length),
    begun: begun.length,
    ended: ended.length,
    steered: ended.length - own.length,
    ends: endsOf(ended),
    turns,
    versions: versions.length < 2 ? [] : versions,
    meanReturn: meanOf(returns).value,
    tokens: totalTokens(begun.map(tokensOf)),
    ms: sum(begun.map(msOf)),
    reasons: Object.entries(counted(begun.flatMap(reasonsOf))),
    servers: Object.entries(counted(begun.flatMap(({ turns: { server } }) => server ?? []))),
    passAtK,
    named: namedStatistics(unsteered(all)),
    provisional: inProgress,
  };
}

function answersAt(rows: readonly Row[], answer: number): Pick<TurnSummary, 'cut' | 'tokens' | 'ms'> {
  const [tokens, ms]: [number[], number[]] = [[], []];
  let cut = 0;
  for (const { turns } of rows) {
    const at = placeOfAnswer(turns, answer);
    if (turns.ms[at] === undefined) continue;
    ms.push(turns.ms[at]);
    tokens.push(...known([turns.tokens[at] ?? null]));
    if (turns.finish[at] === 'l') cut++;
  }
  return { cut, tokens: distributionOf(tokens), ms: distributionOf(ms) };
}

const MOST_VERSIONS = 100;

/** Ascending. `most`: with more versions than that, several next to each other are one. */
export function versionsOf(rows: readonly Row[], trainedAt?: TrainedAt, most = Infinity): VersionSummary[] {
  const own = latest(rows).filter(({ state, steered }) => state !== 'open' && !steered);
  // Versions without a number have no order.
  const began = own.flatMap((row) => {
    const { versions } = row.turns;
    if (!versions || versions[1] >= UNNUMBERED) return [];
    const stale = (trainedAt?.(row) ?? Number.NaN) - versions[0];
    // Weights that a rewind took back may have a higher number.
    return [{ row, version: versions[0], stale: stale >= 0 ? stale : null }];
  });
  const highest = began.reduce((high, { version }) => Math.max(high, version), 0);
  const width = Math.max(1, Math.ceil((highest + 1) / most));
  const groups = new Map<number, typeof began>();
  for (const one of began) {
    const at = Math.floor(one.version / width) * width;
    const group = groups.get(at);
    if (group) group.push(one);
    else groups.set(at, [one]);
  }
  const mean = (values: readonly (number | null)[]) => meanOf(known(values)).value;
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([version, of]) => ({
      version,
      rollouts: of.length,
      meanReturn: mean(of.map(({ row }) => row.reward)),
      right: mean(summaries(of.map(({ row }) => row)).map((one) => rightBy(one, Infinity))),
      tokens: mean(of.flatMap(({ row }) => row.turns.tokens)),
      staleness: mean(of.map(({ stale }) => stale)),
    }));
}

/** Of answers: calls of tools are not judged. */
const reasonsOf = ({ turns: { reasons, answers } }: Row): string[] =>
  reasons.filter((name, at) => name !== '' && (answers?.includes(at) ?? true));

function endsOf(ended: readonly Row[]): EndCount[] {
  const ends = new Map<string, EndCount>();
  for (const { state, stop, reason } of ended) {
    const key = `${state} ${stop} ${reason}`;
    ends.set(key, { state, stop, reason, count: (ends.get(key)?.count ?? 0) + 1 });
  }
  return [...ends.values()].sort((a, b) => b.count - a.count);
}
