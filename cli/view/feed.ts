// The feed of a run that a trainer lives on, for `status`: its versions and leases, from its workflow if that answers, else
// from the ledger in the run's folder.

import { addEntry, countOf, emptyLine } from '../../domain/feed/entry.ts';
import { type FeedHead, feedLines, type OpenGroups } from '../../domain/feed/lines.ts';
import { feedProgressOf } from '../../client/temporal/feed.ts';
import { oldAnswers } from '../../records/reading/group-members.ts';
import type { Store } from '../../records/store.ts';
import { ifUp } from '../find/link.ts';
import type { RunPlace } from '../../run/place.ts';
import type { Io } from '../io.ts';

export interface FeedStatus extends FeedHead {
  readonly source: 'temporal' | 'ledger';
  /** Null where only the ledger is known. */
  readonly open: OpenGroups | null;
  /** Answers do not follow the versions; null where they do. */
  readonly warning: string | null;
}

/** Null for a run that has none. */
export async function feedStatusOf(io: Io, { run, out, store }: RunPlace): Promise<FeedStatus | null> {
  const record = (await store.get('run').catch(() => undefined))?.record;
  const ledger = await ledgerOf(store);
  if (!record?.train && ledger.entries === 0) return null;
  const warning = await oldAnswers(store).catch(() => null);
  const feed = { run, out, since: record?.createdAt };
  const progress = await ifUp(io, ({ session }) => feedProgressOf(session, feed)).catch(() => undefined);
  if (progress) {
    const { version, line, trained, trainedInto, ready, playing, leases, leftOut, admitted, total, concluded } =
      progress;
    const open = { ready, playing, leases, leftOut, admitted, total, concluded };
    return { source: 'temporal', version, line, trained, trainedInto, open, warning };
  }
  const { version, acknowledged, line } = ledger;
  const trainedInto = acknowledged.at(-1)?.version ?? null;
  return { source: 'ledger', version, line, trained: countOf(acknowledged), trainedInto, open: null, warning };
}

/** An entry that is damaged is for `check` to name. */
async function ledgerOf(store: Store) {
  const line = emptyLine();
  const entries = await store.countFeedEntries().catch(() => 0);
  for (let number = 1; number <= entries; number++) {
    const entry = (await store.get('feed', number).catch(() => undefined))?.record;
    if (entry) addEntry(line, entry);
  }
  return { ...line, entries };
}

export const statusLines = ({ open, warning, ...head }: FeedStatus, now: number): string[] => [
  ...feedLines(head, open, (until) => forMore(until, now)),
  ...(warning === null ? [] : [`  ${warning}`]),
];

const forMore = (until: number, now: number) => `for ${Math.max(0, Math.round((until - now) / 1000))} s more`;
