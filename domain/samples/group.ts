// A group: the samples of one query in one epoch. Its labels (success rate, variance), the filters over them, and the
// advantages of its members. Pure. Guarantees: two groups of a run share no id and no number; a member without a reward
// (failed, cancelled, undecided) counts in no mean. Leaves out how members are played again: workflows/feed.ts.

import { UsageError } from '../errors/errors.ts';
import { BOOLEAN, type ObjectOf, orNull, PLACE, realNumber, type Test } from '../schema/fields.ts';
import type { EndRecord } from '../rollout/trajectory.ts';
import { callAdvantages, type ComparedCall, comparedCalls, type Spread, spreadsOf } from './call-advantages.ts';

/** Sizes of a run, as far as its groups depend on them. */
interface GroupShape {
  readonly queries: number;
  /** Samples of a query in one epoch: the members of a group. */
  readonly samples: number;
}

/** Groups are numbered in the order of play: epoch by epoch, each in data set order. */
interface GroupPlace {
  /** 0-based place in queries.jsonl. */
  readonly index: number;
  /** 0-based. */
  readonly epoch: number;
}

export function groupPlace({ queries }: GroupShape, group: number): GroupPlace {
  return { index: group % queries, epoch: Math.floor(group / queries) };
}

/** The samples of a query that are one group: each epoch has its own range, so ids and seeds of two epochs differ. */
export function memberSamples({ samples }: Pick<GroupShape, 'samples'>, epoch: number): number[] {
  return Array.from({ length: samples }, (_, i) => epoch * samples + i);
}

export function epochOf({ samples }: Pick<GroupShape, 'samples'>, sample: number): number {
  return Math.floor(sample / samples);
}

/** Samples of each query over all epochs: of a run's record, whose `epochs` may be absent. */
export function samplesPerQuery({ samples, epochs = 1 }: { readonly samples: number; readonly epochs?: number }) {
  return samples * epochs;
}

/**
 * `<query>` in the first epoch, `<query>#<epoch>` in later ones (0-based). `#` in a query's id becomes `%23`; a `%` is
 * escaped only where it could be read as the start of an escape.
 */
export function groupId(query: string, epoch: number): string {
  const row = query.replace(/#|%(?=23|25)/g, (char) => (char === '#' ? '%23' : '%25'));
  return epoch > 0 ? `${row}#${epoch}` : row;
}

/** A member with a reward: one whose rollout is complete. */
export interface ScoredMember {
  /** The return of the first turn, G_1: the discounted sum of all turns' rewards. */
  readonly reward: number;
  /** Right at any of its turns. */
  readonly success: 0 | 1;
  /** The returns of an agent's calls. */
  readonly calls?: readonly ComparedCall[];
}

/** Null for a rollout that gives no sample to train on. */
export function scoredMember(end: ScoredEnd | null): ScoredMember | null {
  const reward = end?.outcome === 'complete' ? end.returns[0] : undefined;
  // Of an agent whose calls were all left out of training there is no sample.
  if (reward === undefined || end!.branches === 0) return null;
  const calls = comparedCalls(end!);
  return { reward, success: end!.success.includes(1) ? 1 : 0, ...(calls && { calls }) };
}

type ScoredEnd = Pick<EndRecord, 'outcome' | 'success'> & Compared;

export interface GroupLabels {
  /** Members with a reward. */
  readonly members: number;
  /** The share of them that was right at any turn; null without members. */
  readonly successRate: number | null;
  /** All rewards are equal: no advantage, so nothing is learned from the group. */
  readonly zeroVariance: boolean;
  readonly rewardMean: number;
  /** The standard deviation of the population. */
  readonly rewardStd: number;
}

const SAME = 1e-6;
const isSame = ({ std }: Spread): boolean => std <= SAME;

export function groupLabels(members: readonly (ScoredMember | null)[]): GroupLabels {
  const scored = members.filter((member) => member !== null);
  const { mean, std } = moments(scored.map(({ reward }) => reward));
  const right = scored.reduce((sum, { success }) => sum + success, 0);
  return {
    members: scored.length,
    successRate: scored.length === 0 ? null : right / scored.length,
    zeroVariance: std <= SAME && spreadsOf(scored.flatMap(({ calls }) => (calls ? [calls] : []))).every(isSame),
    rewardMean: mean,
    rewardStd: std,
  };
}

/** Group-normalised: (r − mean) / (std + 1e-6), of the population. A member without a reward has advantage 0. */
export function advantages(rewards: readonly (number | null)[]): number[] {
  const { mean, std } = moments(rewards.filter((reward) => reward !== null));
  return rewards.map((reward) => (reward === null ? 0 : (reward - mean) / (std + SAME)));
}

type Compared = Pick<EndRecord, 'returns' | 'branches' | 'depths' | 'abandoned' | 'untrained'>;

/** One advantage per turn of each member of a group; null: a member without a reward. `mean`: not divided by the deviation. */
export function memberAdvantages(members: readonly (Compared | null)[], how: 'mean' | 'std'): (readonly number[])[] {
  if (members.some((member) => member?.depths)) return callAdvantages(members, how === 'std');
  const returns = members.map((member) => member && comparedReturns(member));
  return how === 'std' ? turnAdvantages(returns) : centred(returns);
}

/** The returns by which a rollout is compared with the others of its group: of each turn, or the one of all calls of an agent. */
const comparedReturns = ({ returns, branches }: Compared): readonly number[] =>
  branches === undefined ? returns : returns.slice(0, 1);

/** G_t less the mean of the same turn's, over the members that played it. */
function centred(returns: readonly (readonly number[] | null)[]): (readonly number[])[] {
  const mean = (t: number): number => {
    const column = returns.flatMap((own) => own?.[t] ?? []);
    return column.reduce((sum, value) => sum + value, 0) / column.length;
  };
  const turns = Math.max(0, ...returns.map((own) => own?.length ?? 0));
  const means = Array.from({ length: turns }, (_, t) => mean(t));
  return returns.map((own) => (own ?? []).map((value, t) => value - means[t]!));
}

/**
 * One advantage per turn: the return G_t against those of the same turn in the other members that played it. `returns`:
 * per member its G_t in turn order, or null.
 */
export function turnAdvantages(returns: readonly (readonly number[] | null)[]): (readonly number[])[] {
  const turns = Math.max(0, ...returns.map((own) => own?.length ?? 0));
  const columns = Array.from({ length: turns }, (_, t) => advantages(returns.map((own) => own?.[t] ?? null)));
  return returns.map((own, member) => (own ?? []).map((_, t) => columns[t]![member]!));
}

const SHARE = realNumber(0, 1);
const SHARES: Test<readonly [number, number]> = [
  (value) => Array.isArray(value) && value.length === 2 && value.every(SHARE[0]) && value[0] <= value[1],
  'two numbers from 0 to 1 in order',
];
/** The filter over what is fed or exported of a run. Nothing is deleted: another filter gives other groups of the same run. */
export const FILTER = {
  /** Least and greatest success rate, both included; null: any. */
  successRate: orNull(SHARES),
  dropZeroVariance: BOOLEAN,
  /** Members with a reward, at least; null: all of the group. */
  minMembers: orNull(PLACE),
};
export type GroupFilter = ObjectOf<typeof FILTER>;

export const NO_FILTER: GroupFilter = { successRate: null, dropZeroVariance: false, minMembers: null };

export const LEFT_OUT = ['members', 'success-rate', 'zero-variance'] as const;
/** Too few members have a reward; the success rate is outside the limits; all rewards are equal. */
export type LeftOut = (typeof LEFT_OUT)[number];

/** Why a group is left out; null if it is not. `samples`: the members of a whole group. */
export function whyLeftOut(labels: GroupLabels, filter: GroupFilter, samples: number): LeftOut | null {
  if (labels.members < Math.min(filter.minMembers ?? samples, samples) || labels.members === 0) return 'members';
  const [least, most] = filter.successRate ?? [0, 1];
  if (labels.successRate! < least || labels.successRate! > most) return 'success-rate';
  return filter.dropZeroVariance && labels.zeroVariance ? 'zero-variance' : null;
}

/** No group has more members than its query has samples: such a filter would mean something else than it says. */
export function tooManyMembers(minMembers: number, samples: number): UsageError {
  return new UsageError(`--min-members ${minMembers} is above --samples ${samples}: no group has so many members.`, {
    reason: 'bad-value',
    fix: `Give a number from 1 to ${samples}.`,
  });
}

/** `0.1:0.9`; undefined for a text that is not two numbers from 0 to 1 in order. */
export function parseSuccessRate(text: string): readonly [number, number] | undefined {
  const number = '(\\d{1,3}(?:\\.\\d{1,12})?|\\.\\d{1,12})';
  const limits = new RegExp(`^${number}:${number}$`).exec(text.trim());
  const [least, most] = [Number(limits?.[1]), Number(limits?.[2])];
  return limits && least <= most && most <= 1 ? [least, most] : undefined;
}

function moments(values: readonly number[]): { readonly mean: number; readonly std: number } {
  if (values.length === 0) return { mean: 0, std: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, std: Math.sqrt(variance) };
}
