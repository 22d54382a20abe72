// The labels of a rollout's group: size, success rate, variance and, where wanted, one advantage per turn. A group is
// the samples of one query in one epoch, the last attempt of each. Read from the end records alone; holds one group.
// Counts members with a reward; a member whose other records are damaged counts too.

import {
  comparedReturns,
  epochOf,
  groupId,
  type GroupLabels,
  groupLabels,
  type ScoredMember,
  scoredMember,
  turnAdvantages,
} from '../../domain/samples/group.ts';
import type { RowLabels } from '../../domain/samples/neutral-row.ts';
import type { EndRecord, RolloutRecord } from '../../domain/rollout/trajectory.ts';
import type { Reading } from './policies.ts';
import type { Store } from '../store.ts';

/** `mean`: G_t less the mean of the group's G_t. `std`: that, divided by the standard deviation. */
export const ADVANTAGES = ['none', 'mean', 'std'] as const;
export type Advantages = (typeof ADVANTAGES)[number];

export interface LabelledRollout {
  readonly labels: Partial<RowLabels>;
  readonly group: GroupLabels;
  /** Members that a whole group has. */
  readonly samples: number;
}

interface Group {
  readonly query: string;
  readonly epoch: number;
  readonly samples: number;
  readonly labels: GroupLabels;
  readonly bySample: ReadonlyMap<number, readonly number[]>;
}

export interface LabelOptions {
  /** As the export reads its rollouts: one that it leaves out is no member with a reward. */
  readonly reading: Pick<Reading, 'endOf'>;
  readonly advantages: Advantages;
}

/** Call it in the order of queries: it remembers the last group only. */
export function openGroupLabels(store: Store, { reading, advantages }: LabelOptions) {
  let samplesPerEpoch: number | undefined;
  let last: Group | undefined;

  return async ({ query: { queryId }, sample }: RolloutRecord): Promise<LabelledRollout> => {
    // A damaged run.json is for `check` to name: without one, all samples of a query are one group.
    samplesPerEpoch ??= (await store.getRun().catch(() => undefined))?.record.samples ?? Number.MAX_SAFE_INTEGER;
    const epoch = epochOf({ samples: samplesPerEpoch }, sample);
    if (last?.query !== queryId || last.epoch !== epoch) last = await readGroup(queryId, epoch, samplesPerEpoch);
    const { labels, bySample } = last;
    return {
      group: labels,
      samples: last.samples,
      labels: {
        group: groupId(queryId, epoch),
        group_size: labels.members,
        group_success_rate: labels.successRate,
        zero_variance: labels.zeroVariance,
        turn_advantages: advantages === 'none' ? null : (bySample.get(sample) ?? null),
      },
    };
  };

  async function readGroup(query: string, epoch: number, samples: number): Promise<Group> {
    const ids = await store.listRolloutsOf(query);
    const latest = ids.filter((id, i) => ids[i + 1]?.sample !== id.sample && epochOf({ samples }, id.sample) === epoch);
    const ends: (EndRecord | null)[] = [];
    for (const id of latest) ends.push(await reading.endOf(id));
    const members: (ScoredMember | null)[] = ends.map(scoredMember);
    const returns = ends.map((end, i) => (members[i] ? comparedReturns(end!) : null));
    const made = advantages === 'std' ? turnAdvantages(returns) : centred(returns);
    const bySample = new Map(latest.map(({ sample }, i) => [sample, made[i]!]));
    return { query, epoch, samples, labels: groupLabels(members), bySample };
  }
}

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
