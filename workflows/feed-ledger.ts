// A feed's entries in its ledger. An entry that another feed wrote first has the whole ledger read again, and the rules
// decide once more: leases have ended then, as after any other loss of this workflow.

import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { FeedEntry } from '../domain/feed/entry.ts';
import type { FeedInput } from '../domain/feed/messages.ts';
import type { FeedRefusal } from '../domain/feed/rules.ts';
import type { FeedState } from '../domain/feed/state.ts';
import { openFeed, recordFeedEntry } from './feed-steps.ts';

type Said<K extends FeedEntry['kind']> = Omit<Extract<FeedEntry, { kind: K }>, 'number' | 'previous' | 'at'>;

/** Thrown when the ledger was ahead: the rules must be asked again. */
class LedgerMoved extends Error {}

export async function record(
  { run, out }: FeedInput,
  state: FeedState,
  said: Said<'trained'> | Said<'version'> | Said<'rewind'>,
): Promise<void> {
  const entry = { ...said, number: state.entries + 1, previous: state.last, at: Date.now() } as FeedEntry;
  try {
    state.last = await recordFeedEntry({ run, out, entry });
    state.entries++;
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure) || cause.type !== 'ledger-moved') throw error;
    Object.assign(state, { settled: undefined }, await openFeed({ run, out }));
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

export function refusal({ reason, message, fix }: FeedRefusal): ApplicationFailure {
  const fullMessage = `${message} ${fix}`.trim();
  return ApplicationFailure.create({ message: fullMessage, type: reason, nonRetryable: true, details: [fix] });
}
