// A feed's entries in its ledger. An entry that is there before this feed writes it (a worker died between the write and
// the end of its task, or another feed serves the run) is taken over, and what was asked for is decided again.

import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { FeedEntry } from '../domain/feed/entry.ts';
import * as rules from '../domain/feed/rules.ts';
import type { FeedState } from '../domain/feed/state.ts';
import { entriesAfter, openFeed, recordFeedEntry, trainedAfter } from './feed-steps.ts';

interface Place {
  readonly run: string;
  readonly out: string;
}
type Said<K extends FeedEntry['kind']> = Omit<Extract<FeedEntry, { kind: K }>, 'number' | 'previous' | 'at'>;

/** Thrown when the ledger is ahead: the state has caught up, and the rules must be asked again. */
class LedgerMoved extends Error {}

export async function record(
  { run, out }: Place,
  state: FeedState,
  said: Said<'trained'> | Said<'version'> | Said<'rewind'>,
): Promise<void> {
  const entry = { ...said, number: state.entries + 1, previous: state.last, at: Date.now() } as FeedEntry;
  try {
    state.last = await recordFeedEntry({ run, out, entry });
    state.entries++;
  } catch (error) {
    if (!isMoved(error)) throw error;
    await catchUp({ run, out }, state);
    throw new LedgerMoved('the ledger has moved');
  }
}

/** Decides again as often as the ledger has moved in between. */
export async function whileMoved<T>(decide: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof LedgerMoved)) throw error;
    }
  }
}

async function catchUp({ run, out }: Place, state: FeedState): Promise<void> {
  const found = await entriesAfter({ run, out, entries: state.entries, last: state.last });
  if (found === null) {
    // The folder is another one: nothing that is remembered holds.
    Object.assign(state, { settled: undefined }, await openFeed({ run, out }));
    return;
  }
  for (const { entry, hash } of found) {
    if (entry.kind === 'version') rules.publish(state, entry.version, entry.weights);
    else if (entry.kind === 'trained') rules.trainedBy(state, entry);
    else {
      const trained = await trainedAfter({ run, out, entries: state.entries, version: entry.to });
      rules.rewind(state, entry.to, trained, entry.request);
    }
    state.entries = entry.number;
    state.last = hash;
  }
}

function isMoved(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === 'ledger-moved';
}

export function refusal({ reason, message, fix }: rules.Refusal): ApplicationFailure {
  const said = `${message} ${fix}`.trim();
  return ApplicationFailure.create({ message: said, type: reason, nonRetryable: true, details: [fix] });
}
