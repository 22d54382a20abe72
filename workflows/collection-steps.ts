// The activities that a collection calls, each with its queue, its time limits and a title for the UI.

import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { LAST, TASK_QUEUE } from '../domain/names/queues.ts';

const retry = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;

/** Reads a whole data set: as long as that takes. */
export const { accept } = proxyActivities<Activities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '10 seconds',
  summary: 'accept the data set',
  retry,
});

/** Waits for rollouts: as long as they take. Activities that do something go before those that wait. */
export const { settle: awaitEnds } = proxyActivities<Activities>({
  taskQueue: TASK_QUEUE,
  priority: { priorityKey: LAST },
  startToCloseTimeout: '24 hours',
  heartbeatTimeout: '10 seconds',
  summary: 'rollouts of the history before',
  retry,
});

/** Some rollouts at a time: as long as server and disk take. */
export const { cancelWaiting } = proxyActivities<Activities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 seconds',
  summary: 'cancel rollouts that wait',
  retry,
});

export const { page, conclude } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '1 minute',
  localRetryThreshold: '20 seconds',
  retry,
});
