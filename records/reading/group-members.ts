// The members of one group as their records have them: of each sample the last attempt, with its end. Rows are read
// separately, so that a batch can be counted before the first of its tokens is read.

import {
  type GroupLabels,
  groupLabels,
  memberAdvantages,
  memberSamples,
  scoredMember,
  groupPlace,
} from '../../domain/samples/group.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import type { Store, Stored } from '../store.ts';
import { readTrajectory } from './trajectories.ts';

export interface GroupMember {
  readonly id: RolloutId;
  readonly end: Stored<EndRecord>;
  /** Group-normalised, one per turn. */
  readonly turnAdvantages: readonly number[];
}

interface GroupRecords {
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
  const ends = trainable.map((member) => member && member.end.record);
  const advantages = memberAdvantages(ends, 'std');
  return {
    members: trainable.flatMap((member, i) => (member ? [{ ...member, turnAdvantages: advantages[i]! }] : [])),
    labels: groupLabels(ends.map(scoredMember)),
  };
}

async function lastAttempt(
  store: Store,
  first: RolloutId,
): Promise<{ id: RolloutId; end: Stored<EndRecord> | undefined }> {
  let [id, end] = [first, await store.get('end', first)];
  // Only what failed is tried again.
  while (end?.record.outcome === 'failed') {
    const next = { ...id, attempt: id.attempt + 1 };
    const later = await store.get('end', next);
    if (!later) break;
    [id, end] = [next, later];
  }
  return { id, end };
}

/** Null where the last answers are new enough, or nothing was trained. */
export async function oldAnswers(store: Store): Promise<string | null> {
  const record = (await store.get('run'))?.record;
  if (!record?.train) return null;
  const { run, samples, train } = record;
  let number = await store.countFeedEntries();
  let entry = (await store.get('feed', number))?.record;
  while (entry?.kind === 'version') entry = (await store.get('feed', --number))?.record;
  if (entry?.kind !== 'trained') return null;
  const { index, epoch } = groupPlace({ queries: await store.countQueries(), samples }, entry.groups.at(-1)![1]);
  const [query] = await store.readQueries(index, 1);
  const { members } = await readGroup(store, { run, query: query!.queryId, epoch, samples });
  const played = await Promise.all(members.map(({ id, end }) => readTrajectory(store, id, end)));
  const turns = played.flatMap((one) => one?.turns ?? []);
  const newest = Math.max(...turns.flatMap(({ record: { versions } }) => versions.map(({ version }) => version)));
  const trainedAt = entry.version - 1;
  if (!Number.isFinite(newest) || trainedAt - newest <= train.maxStaleness) return null;
  return `the last group was trained at version ${trainedAt}, and its newest answer is of version ${newest}: older than --max-staleness ${train.maxStaleness} allows. A version that no server loads changes no answer.`;
}
