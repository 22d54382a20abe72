// The feed of a run that a trainer lives on, for `status`: its versions and leases, from its workflow if that answers, else
// from the ledger in the run's folder; and each group with what became of it.

import { addEntry, countOf, emptyLine } from '../../domain/feed/entry.ts';
import { type FeedHead, feedLines, type OpenGroups } from '../../domain/feed/lines.ts';
import type { FeedProgress } from '../../domain/feed/messages.ts';
import { groupId, groupPlace, type LeftOut, memberSamples, NO_FILTER, whyLeftOut } from '../../domain/rollout/group.ts';
import { numbersIn } from '../../domain/run/number-set.ts';
import { feedProgressOf } from '../../client/temporal/feed.ts';
import { readGroup } from '../../records/reading/group-members.ts';
import type { Store } from '../../records/store.ts';
import { ifUp } from '../find/link.ts';
import type { RunPlace } from '../find/place.ts';
import type { Io } from '../io.ts';

export interface FeedStatus extends FeedHead {
  readonly source: 'temporal' | 'ledger';
  /** Null where only the ledger is known. */
  readonly open: OpenGroups | null;
}

/** Null for a run that has none. */
export async function feedStatusOf(io: Io, { run, out, store }: RunPlace): Promise<FeedStatus | null> {
  const record = (await store.getRun().catch(() => undefined))?.record;
  const ledger = await ledgerOf(store);
  if (!record?.train && ledger.entries === 0) return null;
  const feed = { run, out, since: record?.createdAt };
  const progress = await ifUp(io, ({ session }) => feedProgressOf(session, feed)).catch(() => undefined);
  if (progress) {
    const { version, line, trained, trainedInto, ready, playing, leases, leftOut, admitted, total } = progress;
    const open = { ready, playing, leases, leftOut, admitted, total };
    return { source: 'temporal', version, line, trained, trainedInto, open };
  }
  const { version, acknowledged, line } = ledger;
  const trainedInto = acknowledged.at(-1)?.version ?? null;
  return { source: 'ledger', version, line, trained: countOf(acknowledged), trainedInto, open: null };
}

/** An entry that is damaged is for `check` to name. */
async function ledgerOf(store: Store) {
  const line = emptyLine();
  const entries = await store.countFeedEntries().catch(() => 0);
  for (let number = 1; number <= entries; number++) {
    const entry = (await store.getFeedEntry(number).catch(() => undefined))?.record;
    if (entry) addEntry(line, entry);
  }
  return { ...line, entries };
}

export const statusLines = ({ open, ...head }: FeedStatus, now: number): string[] =>
  feedLines(head, open, (until) => forMore(until, now));

const forMore = (until: number, now: number) => `for ${Math.max(0, Math.round((until - now) / 1000))} s more`;

/** `open`: not all members of the group have ended. */
export type GroupState = { readonly group: string } & (
  | { readonly state: 'open' }
  | { readonly state: 'trained'; readonly version: number }
  | { readonly state: 'leased'; readonly lease: string; readonly consumer: string; readonly until: number }
  | { readonly state: 'ready'; readonly successRate: number | null }
  | { readonly state: 'left-out'; readonly why: LeftOut; readonly successRate: number | null }
);

/** `leases`: of the feed's progress; none where it does not answer. */
export async function* groupStates(store: Store, leases: FeedProgress['leases']): AsyncGenerator<GroupState> {
  const record = (await store.getRun())?.record;
  if (!record?.dataset) return;
  const { run, samples, epochs = 1, train = NO_FILTER } = record;
  const trained = new Map<number, number>();
  for (const { version, groups } of (await ledgerOf(store)).acknowledged)
    for (const n of numbersIn(groups)) trained.set(n, version);
  const leased = new Map(leases.flatMap((lease) => [...numbersIn(lease.numbers)].map((n) => [n, lease] as const)));
  const queries = await store.countQueries();
  for (let number = 0; number < queries * epochs; number++) {
    const { index, epoch } = groupPlace({ queries, samples }, number);
    const [query] = await store.readQueries(index, 1);
    if (!query) return;
    const group = groupId(query.queryId, epoch);
    const place = { run, query: query.queryId, epoch, samples };
    const version = trained.get(number);
    const lease = leased.get(number);
    if (version !== undefined) yield { group, state: 'trained', version };
    else if (lease) yield { group, state: 'leased', lease: lease.lease, consumer: lease.consumer, until: lease.until };
    else if (!(await haveEnded(store, place))) yield { group, state: 'open' };
    else {
      const { labels } = await readGroup(store, place);
      const why = whyLeftOut(labels, train, samples);
      const { successRate } = labels;
      yield why === null ? { group, state: 'ready', successRate } : { group, state: 'left-out', why, successRate };
    }
  }
}

type GroupPlace = Parameters<typeof readGroup>[1];

async function haveEnded(store: Store, { run, query, epoch, samples }: GroupPlace): Promise<boolean> {
  for (const sample of memberSamples({ samples }, epoch))
    if (!(await store.getEnd({ run, query, sample, attempt: 1 }))) return false;
  return true;
}

export function groupLine(group: GroupState, now: number): string {
  switch (group.state) {
    case 'trained':
      return `${group.group}  trained into version ${group.version}`;
    case 'left-out':
      return `${group.group}  left out: ${group.why}`;
    case 'leased':
      return `${group.group}  leased by ${group.consumer}, ${forMore(group.until, now)}`;
    default:
      return `${group.group}  ${group.state}`;
  }
}
