// Each group of a run that a trainer lives on, and what became of it: trained (into which version), leased (by whom, until
// when), left out (why), ready, or open. From the ledger, the rollouts' ends, and the feed's workflow where it answers.

import { addEntry, emptyLine } from '../../domain/feed/entry.ts';
import type { FeedProgress } from '../../domain/feed/messages.ts';
import { groupId, groupPlace, type LeftOut, memberSamples, NO_FILTER, whyLeftOut } from '../../domain/rollout/group.ts';
import { numbersIn } from '../../domain/run/number-set.ts';
import { readGroup } from '../../records/group-members.ts';
import type { Store } from '../../records/store.ts';

export interface GroupState {
  readonly group: string;
  /** `open`: not all of its members have ended. */
  readonly state: 'trained' | 'leased' | 'left-out' | 'ready' | 'open';
  /** Of `trained`. */
  readonly version?: number;
  /** Of `leased`. */
  readonly lease?: string;
  readonly consumer?: string;
  readonly until?: number;
  /** Of `left-out`. */
  readonly why?: LeftOut;
  readonly successRate?: number | null;
}

/** `leases`: of the feed's progress; none where it does not answer. */
export async function* groupStates(store: Store, leases: FeedProgress['leases']): AsyncGenerator<GroupState> {
  const record = (await store.getRun())?.record;
  if (!record?.dataset) return;
  const { run, samples, epochs = 1, train = NO_FILTER } = record;
  const line = emptyLine();
  const entries = await store.countFeedEntries();
  for (let n = 1; n <= entries; n++) {
    const entry = (await store.getFeedEntry(n))?.record;
    if (entry) addEntry(line, entry);
  }
  const trained = new Map<number, number>();
  for (const { version, groups } of line.acknowledged) for (const n of numbersIn(groups)) trained.set(n, version);
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
    else if (lease) {
      const { consumer, until } = lease;
      yield { group, state: 'leased', lease: lease.lease, consumer, until };
    } else if (!(await haveEnded(store, place))) yield { group, state: 'open' };
    else {
      const { labels } = await readGroup(store, place);
      const why = whyLeftOut(labels, train, samples);
      const { successRate } = labels;
      yield why === null ? { group, state: 'ready', successRate } : { group, state: 'left-out', why, successRate };
    }
  }
}

interface Place {
  readonly run: string;
  readonly query: string;
  readonly epoch: number;
  readonly samples: number;
}

async function haveEnded(store: Store, { run, query, epoch, samples }: Place): Promise<boolean> {
  for (const sample of memberSamples({ samples }, epoch)) {
    if (!(await store.getEnd({ run, query, sample, attempt: 1 }))) return false;
  }
  return true;
}

export function groupLine({ group, state, version, consumer, until, why }: GroupState, now: number): string {
  if (state === 'trained') return `${group}  trained into version ${version}`;
  if (state === 'left-out') return `${group}  left out: ${why}`;
  if (state !== 'leased') return `${group}  ${state}`;
  return `${group}  leased by ${consumer}, for ${Math.max(0, Math.round((until! - now) / 1000))} s more`;
}
