// The members of one group as their records have them: of each sample the last attempt, with its end. Rows are read
// separately, so that a batch can be counted before the first of its tokens is read.

import {
  comparedReturns,
  type GroupLabels,
  groupLabels,
  memberSamples,
  scoredMember,
  turnAdvantages,
} from '../../domain/samples/group.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import type { Store, Stored } from '../store.ts';

export interface GroupMember {
  readonly id: RolloutId;
  readonly end: Stored<EndRecord>;
  /** Group-normalised, one per turn. */
  readonly turnAdvantages: readonly number[];
}

export interface GroupRecords {
  /** Members with a reward that can be trained on. */
  readonly members: readonly GroupMember[];
  readonly labels: GroupLabels;
}

/** `place`: run, query, and the epoch whose samples are the group. */
export async function readGroup(
  store: Store,
  { run, query, epoch, samples }: { run: string; query: string; epoch: number; samples: number },
): Promise<GroupRecords> {
  const found = await Promise.all(
    memberSamples({ samples }, epoch).map((sample) => lastAttempt(store, { run, query, sample, attempt: 1 })),
  );
  const trainable = found.map(({ id, end }) => (end && scoredMember(end.record) ? { id, end } : null));
  const advantages = turnAdvantages(trainable.map((member) => member && comparedReturns(member.end.record)));
  return {
    members: trainable.flatMap((member, i) => (member ? [{ ...member, turnAdvantages: advantages[i]! }] : [])),
    labels: groupLabels(trainable.map((member) => member && scoredMember(member.end.record))),
  };
}

async function lastAttempt(
  store: Store,
  first: RolloutId,
): Promise<{ id: RolloutId; end: Stored<EndRecord> | undefined }> {
  let [id, end] = [first, await store.getEnd(first)];
  // Only what failed is tried again.
  while (end?.record.outcome === 'failed') {
    const next = { ...id, attempt: id.attempt + 1 };
    const later = await store.getEnd(next);
    if (!later) break;
    [id, end] = [next, later];
  }
  return { id, end };
}
