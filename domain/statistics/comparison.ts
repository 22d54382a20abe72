// Two runs of the same queries, compared query by query. Paired: a query that is in one run only, or whose text differs,
// is counted and named and never paired. Differences are B − A: positive means that the second run is better.

import { canonicalJson } from '../text/json.ts';
import { type RolloutSummary, steeredCount, type SteeredCount, unsteered } from '../rollout/rollout-summary.ts';
import { clipToShare } from './estimate.ts';
import { type Interval, type Mean, meanOf, wilson } from './mean.ts';
import { type ComparedNumber, comparedNumbers } from './named.ts';
import { byQuery, known, rightBy } from './outcomes.ts';
import { pairedDifference, type PairedDifference, signTest, visibleDifference } from './paired.ts';

/** `right`: right at any turn up to the one asked for; `return`: G_1 of complete rollouts, real numbers. */
export const MEASURES = ['right', 'return'] as const;
type Measure = (typeof MEASURES)[number];

/** Hashes of a query's prompt, of its solutions, and of its task or environment. */
export interface QueryIdentity {
  readonly prompt: string;
  readonly solutions: string;
  readonly judge: string;
}

export interface ComparedRun {
  /** Begun rollouts, the last attempt of each. */
  readonly rollouts: readonly RolloutSummary[];
  readonly queries: ReadonlyMap<string, QueryIdentity>;
  /** The words around a row. If those of two runs differ, a query with the same id is the same. */
  readonly wording?: unknown;
}

export const CELLS = ['both', 'only-a', 'only-b', 'neither'] as const;
export type Cell = (typeof CELLS)[number];

export interface PairedQuery {
  readonly query: string;
  /** Means over the known samples of the query. */
  readonly a: number;
  readonly b: number;
  /** Right is: more than half of the samples. Null for returns. */
  readonly cell: Cell | null;
}

export interface ComparedTurn {
  /** 1-based. */
  readonly turn: number;
  readonly a: Mean;
  readonly b: Mean;
  readonly difference: PairedDifference;
}

export interface Comparison {
  readonly measure: Measure;
  readonly atTurn: number;
  readonly pairs: readonly PairedQuery[];
  readonly a: Mean;
  readonly b: Mean;
  readonly difference: PairedDifference;
  /** Exact p of the signs of the differences. */
  readonly signTest: number | null;
  /** Null for returns. */
  readonly table: Readonly<Record<Cell, number>> | null;
  /** The difference that as many such queries show with a power of 80 %; null without a spread. */
  readonly visible: number | null;
  /** The comparison at each turn, of the same queries; empty for returns. */
  readonly byTurn: readonly ComparedTurn[];
  /** Metrics and named rewards that both runs have, of the same queries. */
  readonly named: readonly ComparedNumber[];
  /** Queries in one run only. */
  readonly onlyInA: readonly string[];
  readonly onlyInB: readonly string[];
  /** The same id with another prompt: never paired. */
  readonly otherText: readonly string[];
  /** Paired, though their solutions differ: then the runs were judged by different rules. */
  readonly otherSolutions: readonly string[];
  /** Paired, though another task or environment judged them: whether their solutions differ too cannot be said. */
  readonly otherJudge: readonly string[];
  /** The same in both runs, without a known sample in one of them: not played yet, failed or undecided. */
  readonly unknown: readonly string[];
  /** Rollouts of each run that a person had a part in: left out. */
  readonly steered: readonly [SteeredCount, SteeredCount];
}

interface ComparisonOptions {
  readonly measure?: Measure;
  readonly atTurn: number;
}

export function comparison(
  a: ComparedRun,
  b: ComparedRun,
  { measure = 'right', atTurn }: ComparisonOptions,
): Comparison {
  const [ofA, ofB] = [a, b].map((run) => new Map(byQuery(unsteered(run.rollouts)).map((g) => [g.query, g.rollouts])));
  const otherWords = JSON.stringify(a.wording) !== JSON.stringify(b.wording);
  const onlyInA: string[] = [];
  const otherText: string[] = [];
  const otherSolutions: string[] = [];
  const otherJudge: string[] = [];
  const same: string[] = [];
  for (const [query, identity] of a.queries) {
    const other = b.queries.get(query);
    if (!other) onlyInA.push(query);
    else if (other.prompt !== identity.prompt && !otherWords) otherText.push(query);
    else same.push(query);
    if (same.at(-1) !== query || !other) continue;
    // A query keeps of its row what its judge reads.
    if (other.judge !== identity.judge) otherJudge.push(query);
    else if (other.solutions !== identity.solutions) otherSolutions.push(query);
  }
  const samplesOf = (query: string, turn: number) =>
    [ofA!, ofB!].map((groups) => valuesOf(groups.get(query) ?? [], measure, turn)) as [number[], number[]];
  const pairsAt = (turn: number) =>
    same.flatMap((query) => {
      const [inA, inB] = samplesOf(query, turn);
      return inA.length > 0 && inB.length > 0 ? [{ query, inA, inB }] : [];
    });
  const found = pairsAt(atTurn);
  const pairs = found.map(({ query, inA, inB }) => paired(query, meanOf(inA).value!, meanOf(inB).value!, measure));
  const paired1 = found.every(({ inA, inB }) => inA.length === 1 && inB.length === 1);
  const meanOfRun = (values: readonly number[]): Mean => {
    const mean = meanOf(values);
    if (measure === 'return') return mean;
    const right = values.reduce((sum, value) => sum + value, 0);
    return { ...mean, interval: paired1 ? wilson(right, values.length) : clipToShare(mean.interval) };
  };
  const differences = pairs.map((pair) => pair.b - pair.a);
  const difference = pairedDifference(differences, measure === 'right' ? 1 : Infinity);
  const table = measure === 'right' ? tableOf(pairs) : null;
  const sameQueries = new Set(same);
  const inBoth = new Set(pairs.map(({ query }) => query));
  return {
    measure,
    atTurn,
    pairs,
    a: meanOfRun(pairs.map((pair) => pair.a)),
    b: meanOfRun(pairs.map((pair) => pair.b)),
    difference,
    signTest: pairs.length === 0 ? null : signTest(differences),
    table,
    visible: difference.spread ? visible(difference) : null,
    byTurn: measure === 'return' ? [] : turns(atTurn, pairsAt),
    named: comparedNumbers(unsteered(a.rollouts), unsteered(b.rollouts), (query) => sameQueries.has(query)),
    onlyInA,
    onlyInB: [...b.queries.keys()].filter((query) => !a.queries.has(query)),
    otherText,
    otherSolutions,
    otherJudge,
    unknown: same.filter((query) => !inBoth.has(query)),
    steered: [steeredCount(a.rollouts), steeredCount(b.rollouts)],
  };
}

/** Worse by more than `minDelta`, and the 95 % interval lies below 0; without a spread, the sign test decides. */
export function isWorse({ difference, signTest: p }: Comparison, minDelta: number): boolean {
  const { value, interval, spread } = difference;
  if (value === null || value >= -minDelta) return false;
  return spread === null || spread === 0 ? p !== null && p < 0.05 : interval !== null && interval[1] < 0;
}

type Pairs = readonly { readonly inA: readonly number[]; readonly inB: readonly number[] }[];

function turns(last: number, pairsAt: (turn: number) => Pairs): ComparedTurn[] {
  return Array.from({ length: last }, (_, i) => {
    const pairs = pairsAt(i + 1).map(({ inA, inB }) => ({ a: meanOf(inA).value!, b: meanOf(inB).value! }));
    return {
      turn: i + 1,
      a: shareOf(pairs.map((pair) => pair.a)),
      b: shareOf(pairs.map((pair) => pair.b)),
      difference: pairedDifference(
        pairs.map((pair) => pair.b - pair.a),
        1,
      ),
    };
  });
}

const shareOf = (values: readonly number[]): Mean => {
  const mean = meanOf(values);
  return { ...mean, interval: clipToShare(mean.interval) };
};

/** An interval over more than 80 % of all differences of shares says nothing: too few queries. */
export function shownInterval(interval: Interval | null, measure: Measure): Interval | null {
  return interval && measure === 'right' && interval[1] - interval[0] > 0.8 * 2 ? null : interval;
}

function valuesOf(rollouts: readonly RolloutSummary[], measure: Measure, turn: number): number[] {
  const ended = rollouts.filter(({ outcome }) => outcome !== null);
  return measure === 'return'
    ? ended.flatMap(({ returns }) => returns[0] ?? [])
    : known(ended.map((rollout) => rightBy(rollout, turn)));
}

function paired(query: string, a: number, b: number, measure: Measure): PairedQuery {
  const cell = a > 0.5 ? (b > 0.5 ? 'both' : 'only-a') : b > 0.5 ? 'only-b' : 'neither';
  return { query, a, b, cell: measure === 'right' ? cell : null };
}

function tableOf(pairs: readonly PairedQuery[]): Record<Cell, number> {
  const table = { both: 0, 'only-a': 0, 'only-b': 0, neither: 0 };
  for (const { cell } of pairs) if (cell) table[cell]++;
  return table;
}

/** The variance of a difference holds that between queries and, divided by the samples, that within them. */
function visible({ spread, n }: PairedDifference): number {
  return visibleDifference({ between: spread! ** 2, withinA: 0, withinB: 0 }, n);
}

/** A setting in which two runs differ, as values of JSON. */
export interface SettingDifference {
  readonly name: string;
  /** Undefined: the run has no such setting. */
  readonly a: unknown;
  readonly b: unknown;
}

type Settings = Readonly<Record<string, unknown>>;

export function settingDifferences(a: Settings, b: Settings): SettingDifference[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names
    .filter((name) => canonicalJson(a[name]) !== canonicalJson(b[name]))
    .map((name) => ({ name, a: a[name], b: b[name] }));
}
