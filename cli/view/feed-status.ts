// The part of `status` on a run's feed: from its workflow if that answers, else from the ledger in the run's folder.

import { addEntry, countOf, emptyLine } from '../../domain/feed/entry.ts';
import type { FeedProgress } from '../../domain/feed/messages.ts';
import { feedProgressOf } from '../../client/temporal/feed.ts';
import { openLinkIfUp } from '../find/link.ts';
import type { RunPlace } from '../find/place.ts';
import type { Io } from '../io.ts';
import { plural } from './format.ts';

export interface FeedStatus {
  readonly source: 'temporal' | 'ledger';
  readonly version: number;
  /** Rewinds. */
  readonly line: number;
  readonly trained: number;
  /** The version that the newest acknowledgement names; null if there is none. */
  readonly trainedInto: number | null;
  /** Null where only the ledger is known. */
  readonly open: Pick<FeedProgress, 'ready' | 'playing' | 'leases' | 'leftOut' | 'admitted' | 'total'> | null;
}

/** Null for a run that has none. */
export async function feedStatusOf(io: Io, { run, out, store }: RunPlace): Promise<FeedStatus | null> {
  const record = (await store.getRun().catch(() => undefined))?.record;
  const entries = await store.countFeedEntries().catch(() => 0);
  if (!record?.train && entries === 0) return null;
  const link = await openLinkIfUp(io).catch(() => undefined);
  const progress =
    link && (await feedProgressOf(link.session, { run, out, since: record?.createdAt }).catch(() => undefined));
  await link?.close();
  if (progress) {
    const { version, line, trained, trainedInto, ready, playing, leases, leftOut, admitted, total } = progress;
    const open = { ready, playing, leases, leftOut, admitted, total };
    return { source: 'temporal', version, line, trained, trainedInto, open };
  }
  const line = emptyLine();
  for (let number = 1; number <= entries; number++) {
    const entry = (await store.getFeedEntry(number).catch(() => undefined))?.record;
    if (entry) addEntry(line, entry);
  }
  const { version, acknowledged } = line;
  const trainedInto = acknowledged.at(-1)?.version ?? null;
  return { source: 'ledger', version, line: line.line, trained: countOf(acknowledged), trainedInto, open: null };
}

export function feedLines({ version, line, trained, trainedInto, open }: FeedStatus, now: number): string[] {
  const into = trainedInto === null ? '' : `, the last into version ${trainedInto}`;
  const rewound = line === 0 ? '' : `, rewound ${plural(line, 'time')}`;
  const first = `Feed: version ${version}${rewound}; ${plural(trained, 'group')} trained${into}`;
  if (!open) return [`${first}. Its workflow does not answer: that is what its ledger says.`];
  const { ready, playing, leases, leftOut, admitted, total } = open;
  const left = Object.entries(leftOut).filter(([, n]) => n > 0);
  return [
    `${first}; ${ready} ready, ${playing} being played; ${admitted} of ${total} admitted`,
    ...leases.slice(0, 20).map(({ consumer, groups, until, lease }) => {
      const seconds = Math.max(0, Math.round((until - now) / 1000));
      return `  leased: ${plural(groups, 'group')} by ${consumer}, for ${seconds} s more (${lease})`;
    }),
    ...(left.length > 0 ? [`  left out: ${left.map(([why, n]) => `${n} by ${why}`).join(', ')}`] : []),
  ];
}
