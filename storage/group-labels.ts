// The labels of a rollout's group: size, success rate, variance and, where wanted, one advantage per turn. A group is
// the samples of one query in one epoch, the last attempt of each. Read from the end records alone; holds one group.
// Counts members with a reward; a member whose other records are damaged counts too.

import {
  epochOf,
  groupId,
  type GroupLabels,
  groupLabels,
  type ScoredMember,
  scoredMember,
  turnAdvantages,
} from '../domain/group.ts';
import { finishedTurns, type UndecidedPolicy } from '../domain/finished-turns.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { RowLabels } from '../domain/neutral-row.ts';
import type { EndRecord, RolloutRecord } from '../domain/trajectory.ts';
import type { People } from './people.ts';
import type { Store } from './store.ts';
import { readTrajectory } from './trajectories.ts';

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
  readonly undecided: UndecidedPolicy;
  readonly advantages: Advantages;
  /** People's verdicts, where they replace the judge's. */
  readonly people?: People | undefined;
}

/** Call it in the order of queries: it remembers the last group only. */
export function openGroupLabels(store: Store, { undecided, advantages, people }: LabelOptions) {
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
    for (const id of latest) ends.push(await endOf(id));
    const members: (ScoredMember | null)[] = ends.map(scoredMember);
    const returns = ends.map((end, i) => (members[i] ? end!.rewards : null));
    const made = advantages === 'std' ? turnAdvantages(returns) : centred(returns);
    const bySample = new Map(latest.map(({ sample }, i) => [sample, made[i]!]));
    return { query, epoch, samples, labels: groupLabels(members), bySample };
  }

  /** A damaged end is a rollout without one: the export names it when it comes to it. */
  async function endOf(id: RolloutId): Promise<EndRecord | null> {
    let end = (await store.getEnd(id).catch(() => undefined))?.record ?? null;
    let played = end && people?.on(id) ? await readTrajectory(store, id).catch(() => undefined) : undefined;
    if (people && played) {
      const judged = people.judged(played);
      // The export leaves it out, so it is no member with a reward.
      if (typeof judged === 'string') return null;
      [played, end] = [judged, judged.end];
    }
    if (end?.outcome !== 'undecided' || undecided === 'drop') return end;
    played ??= await readTrajectory(store, id).catch(() => undefined);
    return (played && finishedTurns(played)?.end) ?? null;
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
