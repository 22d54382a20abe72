// The activities that a feed calls. None is a local one: a feed reads the clock, and a replay sees the same time only
// where each workflow task has its own place in the history.

import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../activities/index.ts';
import { TASK_QUEUE } from '../domain/names/queues.ts';
import type { FeedEntry } from '../domain/feed/entry.ts';
import type { FeedInput } from '../domain/feed/messages.ts';
import type { FeedRefusal } from '../domain/feed/rules.ts';
import type { FeedState } from '../domain/feed/state.ts';

const retry = { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' } as const;

/** Reads the ledger, or copies the held-out queries, however long they are. */
export const { openFeed, trainedAfter, openEvaluation } = proxyActivities<Activities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '24 hours',
  heartbeatTimeout: '10 seconds',
  retry,
});

/** Waits until groups end: as long as that takes. */
export const { watchGroups } = proxyActivities<Activities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '24 hours',
  heartbeatTimeout: '10 seconds',
  summary: 'wait for groups',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry,
});

/** An entry that another feed wrote first is not tried again. */
export const { recordFeedEntry } = proxyActivities<Activities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '1 minute',
  retry: { ...retry, nonRetryableErrorTypes: ['ledger-moved'] },
});

type Said<K extends FeedEntry['kind']> = Omit<Extract<FeedEntry, { kind: K }>, 'number' | 'previous' | 'at'>;

/** Thrown when the ledger was ahead: the rules must be asked again. */
class LedgerMoved extends Error {}

/** Writes an entry. One that another feed wrote first has the whole ledger read again, and the rules decide once more. */
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
