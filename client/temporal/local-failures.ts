// The local activity that a workflow retries: the server lists no such activity as pending, but its history ends with the
// failure once the pause before the next attempt is long (after half a minute). Not covered: the attempts before that.

import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { ifAnswered, type Session } from './connection.ts';

const CALL_MS = 5_000;
/** A marker, its timer, and the workflow task in progress. */
const EVENTS = 10;
/** temporal.api.enums.v1.EventType: what may follow the failure while it is retried. */
const BETWEEN = new Set([5, 6, 7, 8, 9, 17, 18]);
const MARKER = 25;

export interface LocalFailure {
  /** The activity's name. */
  readonly type: string;
  /** That failed last, 1 for the first. */
  readonly attempt: number;
  readonly message: string;
  /** Its stable name. */
  readonly reason: string | undefined;
}

/** Undefined where none is retried, or the server does not answer. */
export async function localFailureOf(
  { client, namespace }: Session,
  workflowId: string,
): Promise<LocalFailure | undefined> {
  const question = { namespace, execution: { workflowId }, maximumPageSize: EVENTS };
  const found = await ifAnswered(() =>
    client.withDeadline(Date.now() + CALL_MS, () =>
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
