// The numbers of a run from its rows: those of `everturn stats`, and what rows say beside them: how rollouts ended, the
// judge's reasons, tokens and times. Pure. Of a sample the last attempt counts. Leaves out what needs every turn's
// record: majority votes, rewards, and times by server.

import type { StopReason } from '../../domain/rollout/ending.ts';
import type { NamedNumbers, RolloutSummary, RunSize } from '../../domain/rollout/rollout-summary.ts';
import { totalTokens } from '../../domain/rollout/turn-facts.ts';
import { UNNUMBERED } from '../../domain/weights/weight-version.ts';
import { countNames, type TurnStatistics } from '../../domain/statistics/by-turn.ts';
import type { Estimate } from '../../domain/statistics/estimate.ts';
import { headlineOf, type Headline, headlineOfRollouts } from '../../domain/statistics/headline.ts';
import { type Distribution, distributionOf, meanOf } from '../../domain/statistics/mean.ts';
import { known } from '../../domain/statistics/outcomes.ts';
import { passesOf, statisticsInParts } from '../../domain/statistics/run-statistics.ts';
import { latest, rowMs, placeOfAnswer, type Row, type RowState, addUp, rowTokens } from './row.ts';

export interface TurnSummary extends TurnStatistics {
  /** Answers that were cut at their limit. */
  readonly cut: number;
  /** Tokens and milliseconds of an answer. */
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
  /** Mean tokens of an answer. */
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
  /** The turns of ended rollouts. */
  readonly turns: readonly TurnSummary[];
  /** Ascending; empty where all rollouts began with one version. */
  readonly versions: readonly VersionSummary[];
  readonly headline: Headline;
  /** Output tokens, null if unknown, and milliseconds of generation. */
  readonly tokens: number | null;
  readonly ms: number;
  /** Tokens of the contexts that the answers followed, null if unknown, and those of them that an endpoint had cached. */
  readonly contextTokens: number | null;
  readonly cachedTokens: number | null;
  /** The judge's reasons, by number of turns, most frequent first. */
  readonly reasons: readonly (readonly [string, number])[];
  /** Rollouts by server. */
  readonly servers: readonly (readonly [string, number])[];
  /** pass@k; empty where a query has one sample. */
  readonly passAtK: readonly Estimate[];
  /** Metrics and named rewards of a user's environment. */
  readonly named: readonly Estimate[];
}

const NONE = {};
const NO_TURNS: RolloutSummary['turns'] = [];

export function summaries(rows: readonly Row[]): RolloutSummary[] {
  const nameless: NamedNumbers[][] = [];
  return latest(rows).map(
    ({ state, stop, reason, success, reward, endedAt, steered, index, query, sample, attempt, turns }) => {
      const summary: RolloutSummary = {
        index,
        query,
        sample,
        attempt,
        success,
        turns: NO_TURNS,
        finishedAt: endedAt,
        outcome: state === 'open' ? null : state,
        stopReason: stop,
        failure: reason,
        returns: reward === null ? [] : [reward],
        named: turns.named ?? (nameless[turns.ms.length] ??= turns.ms.map(() => NONE)),
      };
      return steered ? { ...summary, steered: 'message' } : summary;
    },
  );
}

/** `rows` in order. In parts: of a long run each takes up to a quarter of a second. */
export function* summaryInParts(
  rows: readonly Row[],
  shape: RunSize,
  trainedAt?: TrainedAt,
): Generator<void, RunSummary, void> {
  const begun = latest(rows);
  const ended = begun.filter(({ state }) => state !== 'open');
  yield;
  const own = ended.filter(({ steered }) => !steered);
  const statistics = yield* statisticsInParts(summaries(rows), shape);
  const turns: TurnSummary[] = [];
  for (const turn of statistics.byTurn) {
    yield;
    turns.push({ ...turn, ...answersAt(own, turn.turn - 1) });
  }
  yield;
  const cached = begun.flatMap((row) => known(row.turns.cached ?? []));
  const versions = versionsOf(rows, shape, trainedAt, { least: 2, most: MOST_VERSIONS });
  return {
    total: Math.max(shape.queries * shape.samples * shape.epochs, begun.length),
    begun: begun.length,
    ended: ended.length,
    steered: ended.length - own.length,
    ends: endsOf(ended),
    turns,
    versions,
    headline: headlineOf(statistics),
    tokens: totalTokens(begun.map(rowTokens)),
    ms: addUp(begun.map(rowMs)),
    contextTokens: totalTokens(begun.flatMap(({ turns: { context } }) => context)),
    cachedTokens: cached.length === 0 ? null : addUp(cached),
    reasons: Object.entries(countNames(begun.flatMap(reasonsOf))),
    servers: Object.entries(countNames(begun.flatMap(({ turns: { server } }) => server ?? []))),
    passAtK: shape.samples * shape.epochs > 1 ? passesOf(statistics) : [],
    named: statistics.named,
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

/** Ascending. None if there are fewer than `least`; with more than `most`, several next to each other are one. */
export function versionsOf(
  rows: readonly Row[],
  shape: RunSize,
  trainedAt?: TrainedAt,
  { least = 1, most = Infinity } = {},
): VersionSummary[] {
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
  if (groups.size < least) return [];
  const mean = (values: readonly (number | null)[]) => meanOf(known(values)).value;
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([version, of]) => {
      const { any, meanReturn } = headlineOfRollouts(summaries(of.map(({ row }) => row)), shape);
      return {
        ...{ version, rollouts: of.length, meanReturn: meanReturn.value, right: any.value },
        tokens: mean(of.flatMap(({ row }) => row.turns.tokens)),
        staleness: mean(of.map(({ stale }) => stale)),
      };
    });
}

/** The reasons of answers alone: calls of tools are not judged. */
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

export interface HeadNumbers {
  /** Shares, as of `everturn stats`; null where none is known. */
  readonly right: { readonly first: number | null; readonly last: number | null; readonly any: number | null };
  readonly meanReturn: number | null;
  readonly ended: number;
  /** The ended rollouts that failed and those that could not be judged, by their causes. */
  readonly troubles: readonly Trouble[];
}

export interface Trouble {
  readonly state: 'failed' | 'undecided';
  readonly count: number;
  readonly reason: string | null;
}

/** Every rollout failed. */
export const hasFailed = ({ ended, troubles }: Pick<HeadNumbers, 'ended' | 'troubles'>): boolean =>
  ended > 0 && troubles.reduce((all, { state, count }) => all + (state === 'failed' ? count : 0), 0) === ended;

export function headNumbers({ headline, ended, ends }: Pick<RunSummary, 'headline' | 'ended' | 'ends'>): HeadNumbers {
  const { first, last, any, meanReturn } = headline;
  return {
    right: { first: first.value, last: last.value, any: any.value },
    meanReturn: meanReturn.value,
    ended,
    troubles: (['failed', 'undecided'] as const).flatMap((state) => troubleOf(state, ends)),
  };
}

/** Each cause, with its own count; `ends`: the most frequent first. */
function troubleOf(state: Trouble['state'], ends: readonly EndCount[]): readonly Trouble[] {
  const own = ends.filter((end) => end.state === state);
  return [...new Set(own.map(({ reason }) => reason))].map((reason) => {
    const count = own.reduce((all, end) => all + (end.reason === reason ? end.count : 0), 0);
    return { state, count, reason };
  });
}
