// The pending work of a workflow, as the server reports it: the activity in progress, its attempts, its last failure, and
// the reason for waiting in its heartbeats.

import type { WorkflowExecutionDescription } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { TASK_QUEUE } from '../../domain/names/queues.ts';
import { calling, ifAnswered, type Session } from './connection.ts';

const CALL_MS = 10_000;

/** The pending work of a workflow. */
interface PendingWork {
  /** Null if none is pending, or a local one that did not fail: then a worker is deciding, or none has taken the decision yet. */
  readonly activity: PendingActivity | null;
  /** A decision is due, and no worker has taken it yet. */
  readonly waitsForWorker: boolean;
}

export interface PendingActivity {
  readonly name: string;
  /** Its task queue. */
  readonly queue: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** `started`: a worker runs it. `scheduled`: it waits for a worker, or for its next attempt. */
  readonly state: 'started' | 'scheduled';
  /** Epoch milliseconds; null if the server does not report it. */
  readonly since: number | null;
  readonly nextTryAt: number | null;
  readonly lastFailure: { readonly reason: string; readonly message: string } | null;
  /** A further reason for waiting, from its heartbeats: the disk, for example. */
  readonly waits: string | null;
}

export async function pendingWork(session: Session, workflowId: string): Promise<PendingWork> {
  const { client } = session;
  const { raw } = await calling(`describe "${workflowId}"`, () =>
    client.withDeadline(Date.now() + CALL_MS, () => client.workflow.getHandle(workflowId).describe()),
  );
  const [pending] = activitiesIn(raw);
  return {
    activity: pending ?? (await retriedLocally(session, workflowId)) ?? null,
    waitsForWorker: raw.pendingWorkflowTask?.state === SCHEDULED,
  };
}

/** The local activity that a workflow retries. */
export async function retriedLocally(session: Session, workflowId: string): Promise<PendingActivity | undefined> {
  const failing = await localFailureOf(session, workflowId);
  return (
    failing && {
      ...{ name: failing.type, queue: TASK_QUEUE, attempt: failing.attempt + 1, state: 'started' },
      lastFailure: { reason: failing.reason ?? 'unknown', message: failing.message },
      ...{ since: null, nextTryAt: null, waits: null },
    }
  );
}

export const activitiesIn = (raw: WorkflowExecutionDescription['raw']): PendingActivity[] =>
  (raw.pendingActivities ?? []).map(activityOf);

/** temporal.api.enums.v1: PendingWorkflowTaskState and PendingActivityState use the same number. */
const SCHEDULED = 1;
const STARTED = 2;

type RawPending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

function activityOf(pending: RawPending): PendingActivity {
  const { activityType, activityOptions, attempt, state, lastStartedTime, lastFailure } = pending;
  const started = state === STARTED;
  const failure = lastFailure ?? null;
  return {
    name: activityType?.name ?? 'unknown',
    queue: activityOptions?.taskQueue?.name ?? '',
    attempt: attempt ?? 1,
    state: started ? 'started' : 'scheduled',
    since: started ? msOf(lastStartedTime) : msOf(pending.scheduledTime),
    nextTryAt: started ? null : msOf(pending.nextAttemptScheduleTime),
    lastFailure: failure && {
      reason: failure.applicationFailureInfo?.type ?? (failure.timeoutFailureInfo ? 'timeout' : 'unknown'),
      message: failure.message ?? '',
    },
    waits: waitsOf(pending),
  };
}

function waitsOf({ heartbeatDetails }: RawPending): string | null {
  const [payload] = heartbeatDetails?.payloads ?? [];
  const beat = payload && read(payload);
  return typeof beat?.waits === 'string' ? beat.waits : null;
}

/** Undefined for what is no JSON: a user's own worker beats as it likes. */
function read(payload: Payload): { readonly waits?: unknown } | undefined {
  try {
    return defaultPayloadConverter.fromPayload<{ waits?: unknown } | undefined>(payload);
  } catch {
    return undefined;
  }
}

/** Null if the server does not report it. */
function msOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number | null {
  const seconds = Number(time?.seconds ?? 0);
  return seconds > 0 ? seconds * 1000 + Math.floor((time?.nanos ?? 0) / 1e6) : null;
}

const HISTORY_MS = 5_000;
/** A marker, its timer, and the workflow task in progress. */
const EVENTS = 10;
/** temporal.api.enums.v1.EventType: what may follow the failure while it is retried. */
const BETWEEN = new Set([5, 6, 7, 8, 9, 17, 18]);
const MARKER = 25;

interface LocalFailure {
  /** The activity's name. */
  readonly type: string;
  /** That failed last, 1 for the first. */
  readonly attempt: number;
  readonly message: string;
  /** Its stable name. */
  readonly reason: string | undefined;
}

/**
 * The local activity that a workflow retries. The server lists none as pending, but the history ends with its failure once the pause
 * before the next attempt is long (after half a minute). Undefined where none is retried, or the server does not answer.
 */
export async function localFailureOf(
  { client, namespace }: Session,
  workflowId: string,
): Promise<LocalFailure | undefined> {
  const question = { namespace, execution: { workflowId }, maximumPageSize: EVENTS };
  const found = await ifAnswered(() =>
    client.withDeadline(Date.now() + HISTORY_MS, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse(question),
    ),
  );
  const last = found?.history?.events?.find(({ eventType }) => !BETWEEN.has(eventType ?? 0));
  const marker = last?.markerRecordedEventAttributes;
  if (last?.eventType !== MARKER || !marker?.failure) return undefined;
  const { activity_type: type = 'an activity', attempt = 1 } = dataOf(marker.details?.['data']?.payloads?.[0]);
  const { message, applicationFailureInfo } = marker.failure;
  return { type, attempt, message: message ?? '', reason: applicationFailureInfo?.type ?? undefined };
}

interface MarkerData {
  readonly activity_type?: string;
  readonly attempt?: number;
}

/** The data of a marker, as the SDK's core writes it. */
function dataOf(payload: Payload | null | undefined): MarkerData {
  try {
    return (payload && defaultPayloadConverter.fromPayload<MarkerData | null>(payload)) ?? {};
  } catch {
    return {};
  }
}
