// The credit of an agent's calls: the rewards that its program gave them, and their returns along the tree of calls:
//   G of a leaf = r + R, and of another call = r + γ · the mean of G over the calls that extend it,
// with r the call's own reward (0 without one), R the reward of the rollout and γ the run's discount. Pure.

import { isTrainedCall } from '../agent/index.ts';
import { type ScoredTurns, scoredTurns, type StopReason } from './ending.ts';
import type { RolloutSettings } from './settings.ts';
import type { VerdictRecord } from './trajectory.ts';
import type { TurnRecord } from './turn.ts';

type Call = Pick<TurnRecord, 'turn' | 'asked' | 'kept'>;
type Judged = Pick<VerdictRecord, 'verdict' | 'reward' | 'callReward'>;
type Settings = Pick<RolloutSettings, 'rewardScaling' | 'rewardBias' | 'turnDiscount' | 'program'>;

const parentOf = ({ asked }: Call): number | null => asked?.parent ?? null;

/** The calls that lead to one which is not among those `left`, and these. */
export function keptCalls(calls: readonly Call[], left: readonly number[] = []): ReadonlySet<number> {
  const kept = new Set<number>();
  const isLeft = new Set(left);
  for (const { turn } of calls) {
    if (isLeft.has(turn)) continue;
    for (let at: number | null = turn; at !== null && !kept.has(at); at = parentOf(calls[at - 1]!)) kept.add(at);
  }
  return kept;
}

/** The calls before each on its path. */
export function callDepths(calls: readonly Call[]): number[] {
  const depths: number[] = [];
  for (const call of calls) {
    const parent = parentOf(call);
    depths.push(parent === null ? 0 : depths[parent - 1]! + 1);
  }
  return depths;
}

/** Turns that the run or the program leaves out of training. */
export const untrainedCalls = (calls: readonly Call[], { program }: Pick<RolloutSettings, 'program'>): number[] =>
  calls.flatMap(({ turn, asked, kept }) => {
    // A reply that a server held to a form was drawn from what the form left: a trainer must know the sets.
    const isFree = !asked?.limits?.form || kept !== undefined;
    return asked && !(isFree && isTrainedCall(asked, program?.trainCalls)) ? [turn] : [];
  });

/** One return per call. `rewards`: of each; `final`: R; `abandoned`: turns that count only where another one extends them. */
export function callReturns(
  calls: readonly Call[],
  {
    rewards,
    final,
    discount,
  }: { readonly rewards: readonly number[]; readonly final: number; readonly discount: number },
  abandoned: readonly number[] = [],
): number[] {
  const kept = keptCalls(calls, abandoned);
  const after = new Map<number, number[]>();
  const returns = [...rewards];
  for (const call of calls.toReversed()) {
    const { turn } = call;
    const behind = after.get(turn);
    const own = rewards[turn - 1]! + (behind ? discount * mean(behind) : final);
    returns[turn - 1] = own;
    const parent = parentOf(call);
    if (parent === null || (kept.has(parent) && !kept.has(turn))) continue;
    const beside = after.get(parent);
    if (beside) beside.push(own);
    else after.set(parent, [own]);
  }
  return returns;
}

/** Exact where all are equal. */
export function mean(values: readonly number[]): number {
  const [first = 0] = values;
  return first + values.reduce((sum, value) => sum + (value - first), 0) / Math.max(1, values.length);
}

/** The rewards and returns of an agent's calls, by the verdicts on them. */
export function scoredCalls(
  calls: readonly Call[],
  said: readonly Judged[],
  stop: StopReason,
  settings: Settings,
  abandoned?: readonly number[],
): ScoredTurns {
  const scored = scoredTurns(said, stop, settings);
  const own = said.map(({ callReward = 0 }) => callReward);
  // The judged call has that of the rollout, which is counted as such.
  const turnRewards = scored.turnRewards.map((reward, i) => (said[i]!.verdict === 'called' ? own[i]! : reward));
  const last = said.at(-1);
  // Without a judged call there is no return.
  if (!last || turnRewards.length < calls.length) return { ...scored, turnRewards };
  const final = finalReward(last, stop, settings);
  const returns = callReturns(calls, { rewards: own, final, discount: settings.turnDiscount }, abandoned);
  return { ...scored, turnRewards, returns };
}

/** R, which the verdict on the last call gives. */
export const finalReward = (last: Judged, stop: StopReason, settings: Settings): number =>
  scoredTurns([last], stop, settings).turnRewards[0] ?? 0;
