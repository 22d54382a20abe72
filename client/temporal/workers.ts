// The workers of a cluster and how many generations they take at once, as they report it in their identity: the server
// knows who polls, but no worker's slots. A worker whose slots are all taken polls no generations, so those that play
// runs are counted: every worker does both.

import { hostname } from 'node:os';
import { TASK_QUEUE } from '../../domain/names/queues.ts';
import { ifAnswered, type Session } from './connection.ts';

const CALL_MS = 10_000;
/** temporal.api.enums.v1.TaskQueueType. */
const WORKFLOW_QUEUE = 1;
const ACTIVITY_QUEUE = 2;
/** A live worker polls again within a minute; the server remembers a dead one for five. */
export const POLLER_SECONDS = 90;

export interface Workers {
  readonly workers: number;
  /** Generations at once of all of them. */
  readonly slots: number;
}

/** `4711@host, 64 slots`: shown in Temporal's UI, too. */
export function workerIdentity(slots: number): string {
  return `${process.pid}@${hostname()}, ${slots} slots`;
}

/** A task queue, with those alone of its workers that poll it now; undefined if the server does not answer. */
export const describeQueue = (session: Session, name: string, taskQueueType = WORKFLOW_QUEUE) =>
  ifAnswered(() => askQueue(session, name, taskQueueType));

async function askQueue({ client, namespace }: Session, name: string, taskQueueType: number) {
  const question = { namespace, taskQueue: { name }, taskQueueType };
  const found = await client.withDeadline(Date.now() + CALL_MS, () =>
    client.workflowService.describeTaskQueue(question),
  );
  const oldest = Date.now() / 1000 - POLLER_SECONDS;
  const pollers = found.pollers?.filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) >= oldest);
  return { ...found, pollers: pollers ?? [] };
}

/** Who polls that activity queue, and how long ago each began to. Rejects if the server does not answer. */
export async function activityPollers(session: Session, queue: string) {
  const { pollers } = await askQueue(session, queue, ACTIVITY_QUEUE);
  return pollers.map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    secondsAgo: Math.max(0, Math.round(Date.now() / 1000 - Number(lastAccessTime?.seconds ?? 0))),
  }));
}

/** Whether a worker polls that activity queue; undefined if the server does not report it. */
export async function takesActivities(session: Session, queue: string): Promise<boolean | undefined> {
  const found = await describeQueue(session, queue, ACTIVITY_QUEUE);
  return found && found.pollers.length > 0;
}

/** Undefined if the server does not answer, or if one of them does not report its slots. */
export async function workersOf(session: Session): Promise<Workers | undefined> {
  const found = await describeQueue(session, TASK_QUEUE);
  if (!found) return undefined;
  const identities = new Set(found.pollers.map(({ identity }) => identity ?? ''));
  const slots = [...identities].map((identity) => Number(/, (\d{1,5}) slots$/.exec(identity)?.[1] ?? NaN));
  if (slots.some(Number.isNaN)) return undefined;
  return { workers: slots.length, slots: slots.reduce((sum, n) => sum + n, 0) };
}
