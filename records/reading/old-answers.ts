// A sentence for a training run whose answers do not follow its versions: the group that was trained last is older than
// `--max-staleness` allows, because no server answered with a newer version. One group is read: admission bounds all alike.

import { groupPlace } from '../../domain/samples/group.ts';
import type { Store } from '../store.ts';
import { readGroup } from './group-members.ts';
import { readTrajectory } from './trajectories.ts';

/** Null where the last answers are new enough, or nothing was trained. */
export async function oldAnswers(store: Store): Promise<string | null> {
  const record = (await store.getRun())?.record;
  if (!record?.train) return null;
  const { run, samples, train } = record;
  let number = await store.countFeedEntries();
  let entry = (await store.getFeedEntry(number))?.record;
  while (entry?.kind === 'version') entry = (await store.getFeedEntry(--number))?.record;
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
