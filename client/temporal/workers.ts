// The workers of a cluster and how many generations they take at once, as they report it in their identity: the server
// knows who polls, but no worker's slots. A worker whose slots are all taken polls no generations, so those that play
// runs are counted: every worker does both.

import { hostname } from 'node:os';
import { TASK_QUEUE } from '../../domain/run/queues.ts';
import { isServerFailure, type Session } from './connection.ts';

const CALL_MS = 10_000;
/** temporal.api.enums.v1.TaskQueueType. */
const WORKFLOW_QUEUE = 1;
/** A live worker polls again within a minute; the server remembers a dead one for five. */
export const POLLER_S = 90;

export interface Workers {
  readonly workers: number;
  /** Generations at once of all of them. */
  readonly slots: number;
}

/** `4711@host, 64 slots`: shown in Temporal's UI, too. */
export function workerIdentity(slots: number): string {
  return `${process.pid}@${hostname()}, ${slots} slots`;
}

/** Undefined if the server does not answer, or if one of them does not report its slots. */
export async function workersOf({ client, namespace }: Session): Promise<Workers | undefined> {
  try {
    const { pollers } = await client.withDeadline(Date.now() + CALL_MS, () =>
      client.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: TASK_QUEUE },
        taskQueueType: WORKFLOW_QUEUE,
      }),
    );
    const oldest = Date.now() / 1000 - POLLER_S;
    const live = (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) >= oldest);
    const identities = new Set(live.map(({ identity }) => identity ?? ''));
    const slots = [...identities].map((identity) => Number(/, (\d{1,5}) slots$/.exec(identity)?.[1] ?? NaN));
    if (slots.some(Number.isNaN)) return undefined;
    return { workers: slots.length, slots: slots.reduce((sum, n) => sum + n, 0) };
  } catch (error) {
    if (!isServerFailure(error)) throw error;
    return undefined;
  }
}
