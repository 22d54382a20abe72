// The numbers that a user's environment gives beside a verdict, by name: its metrics, and the named parts of its rewards.
// Each is a mean over the turns that have it, with the error of clusters: the turns of one query are not independent.

import type { NamedNumbers, RolloutSummary } from '../rollout/rollout-summary.ts';
import type { Estimate } from './estimate.ts';
import { clusteredMean, type Mean, meanOf } from './mean.ts';
import { byQuery, hasRolloutEnded } from './outcomes.ts';
import { pairedDifference, type PairedDifference } from './paired.ts';

type Values = Map<string, Map<string, number[]>>;

/** The values by name (`metrics.fluency`, `rewards.format`) and query. */
function valuesOf(rollouts: readonly RolloutSummary[]): Values {
  const values: Values = new Map();
  for (const { query, rollouts: own } of byQuery(rollouts.filter(hasRolloutEnded)))
    for (const [name, value] of own.flatMap((rollout) => turnsOf(rollout).flatMap(numbersOf))) {
      const queries = values.get(name) ?? new Map<string, number[]>();
      values.set(name, queries);
      queries.set(query, [...(queries.get(query) ?? []), value]);
    }
  return new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const turnsOf = ({ turns, named = turns }: RolloutSummary): readonly NamedNumbers[] => named;

const numbersOf = ({ metrics = {}, rewards = {} }: NamedNumbers): (readonly [string, number])[] => [
  ...Object.entries(rewards).map(([name, value]) => [`rewards.${name}`, value] as const),
  ...Object.entries(metrics).map(([name, value]) => [`metrics.${name}`, value] as const),
];

export function namedStatistics(rollouts: readonly RolloutSummary[]): Estimate[] {
  const turns = rollouts.filter(hasRolloutEnded).reduce((sum, rollout) => sum + turnsOf(rollout).length, 0);
  return [...valuesOf(rollouts)].map(([name, queries]) => {
    const clusters = [...queries.values()];
    const n = clusters.reduce((sum, values) => sum + values.length, 0);
    const mean = clusteredMean(clusters);
    const method = mean.interval ? 't' : null;
    const definition = 'mean over the turns that have it, as the environment gave it';
    return { name, ...mean, n, unit: 'turns', leftOut: turns - n, method, definition };
  });
}

export interface ComparedNumber {
  readonly name: string;
  readonly a: Mean;
  readonly b: Mean;
  readonly difference: PairedDifference;
}

/** The numbers that both runs have: means by query, paired. */
export function comparedNumbers(
  a: readonly RolloutSummary[],
  b: readonly RolloutSummary[],
  isSame: (query: string) => boolean,
): ComparedNumber[] {
  const ofB = valuesOf(b);
  return [...valuesOf(a)].flatMap(([name, queries]) => {
    const pairs = [...queries].flatMap(([query, inA]) => {
      const inB = isSame(query) ? ofB.get(name)?.get(query) : undefined;
      return inB ? [{ a: meanOf(inA).value!, b: meanOf(inB).value! }] : [];
    });
    if (pairs.length === 0) return [];
    const difference = pairedDifference(
      pairs.map((pair) => pair.b - pair.a),
      Infinity,
    );
    return { name, a: meanOf(pairs.map((pair) => pair.a)), b: meanOf(pairs.map((pair) => pair.b)), difference };
  });
}
