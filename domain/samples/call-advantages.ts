// The advantages of the calls of agents in a group. The return of a call is compared with those of the calls that have as many
// calls before them, each rollout weighing one; a rollout without a call so deep counts by its deepest. Where every call has the
// return of its rollout, that is the advantage of the rollout. Pure.

import type { EndRecord } from '../rollout/trajectory.ts';
import { mean } from '../rollout/call-credit.ts';

/** The return of a call, and the calls before it on its path. */
export interface ComparedCall {
  readonly depth: number;
  readonly value: number;
}

type Ended = Pick<EndRecord, 'returns' | 'depths' | 'abandoned' | 'untrained'>;

/** The calls of a rollout that are trained; undefined where no agent's program played it. */
export function comparedCalls({ returns, depths, abandoned = [], untrained = [] }: Ended): ComparedCall[] | undefined {
  if (!depths) return undefined;
  const left = new Set([...abandoned, ...untrained]);
  const all = returns.map((value, i) => ({ depth: depths[i]!, value }));
  const trained = all.filter((_, i) => !left.has(i + 1));
  return trained.length > 0 ? trained : all.slice(0, 1);
}

export interface Spread {
  readonly mean: number;
  /** Of the population. */
  readonly std: number;
}

/** By depth. */
export function spreadsOf(members: readonly (readonly ComparedCall[])[]): readonly Spread[] {
  const deepest = members.flat().reduce((most, { depth }) => Math.max(most, depth), -1);
  const columns = members.map((calls) => valuesByDepth(calls, deepest));
  return Array.from({ length: deepest + 1 }, (_, depth) => {
    const at = columns.map((column) => column[depth]!);
    const middle = plainMean(at.map(mean));
    const variance = plainMean(at.map((values) => mean(values.map((value) => (value - middle) ** 2))));
    return { mean: middle, std: Math.sqrt(variance) };
  });
}

/** At each depth its calls, or else those of the next depth before it that has some; of the first ones where none has. */
function valuesByDepth(calls: readonly ComparedCall[], deepest: number): (readonly number[])[] {
  const byDepth = new Map<number, number[]>();
  for (const { depth, value } of calls) byDepth.set(depth, [...(byDepth.get(depth) ?? []), value]);
  let last = byDepth.get(Math.min(...byDepth.keys()))!;
  return Array.from({ length: deepest + 1 }, (_, depth) => (last = byDepth.get(depth) ?? last));
}

const plainMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** One per call of each member, 0 of one that is not trained; null: a member without a reward. `isDivided`: by the standard deviation, plus 1e-6. */
export function callAdvantages(ends: readonly (Ended | null)[], isDivided: boolean): (readonly number[])[] {
  const spreads = spreadsOf(ends.flatMap((end) => (end && [comparedCalls(end) ?? []]) ?? []));
  const none: Spread = { mean: 0, std: 0 };
  return ends.map((end) =>
    (end?.returns ?? []).map((value, i) => {
      if (end!.untrained?.includes(i + 1)) return 0;
      const { mean: middle, std } = spreads[Math.min(end!.depths?.[i] ?? 0, spreads.length - 1)] ?? none;
      return isDivided ? (value - middle) / (std + 1e-6) : value - middle;
    }),
  );
}
