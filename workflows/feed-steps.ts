// The activities that a feed calls. None is a local one: a feed reads the clock, and a replay sees the same time only
// where each workflow task has its own place in the history.

import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { TASK_QUEUE } from '../domain/names/queues.ts';

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
