// From what Temporal throws to the named failure that a rollout records: its boundary, its reason and its message. A
// regular activity's failure comes wrapped in an ActivityFailure, a local activity's may come bare.

import { ActivityFailure, ApplicationFailure, defaultPayloadConverter, TimeoutFailure } from '@temporalio/workflow';
import { type Boundary, boundaryOfReason, isBoundary } from '../domain/reasons.ts';
import type { FailureDetails, FailureFacts } from '../domain/rollout-facts.ts';

const MAX_MESSAGE_CHARS = 500;

/** Undefined for anything but a failed activity: a bug in workflow code is not a rollout's failure. */
export function failureOf(error: unknown): FailureFacts | undefined {
  const activity = error instanceof ActivityFailure ? error : undefined;
  const cause = activity?.cause ?? error;
  if (cause instanceof ApplicationFailure) return { ...applicationFailure(cause), message: short(cause.message) };
  if (cause instanceof TimeoutFailure) {
    // The last attempt's own failure says more than the limit that ended the tries. The server sends it as
    // the timeout's cause, which the SDK leaves undecoded.
    const last = cause.failure?.cause;
    const { type, details } = last?.applicationFailureInfo ?? {};
    const message = short(last?.message ?? cause.message);
    if (type) return { boundary: boundaryOf(type, firstOf(details?.payloads)), reason: type, message };
    return { boundary: 'temporal', reason: `${activity?.activityType ?? 'activity'}-timeout`, message };
  }
  if (!activity) return undefined;
  const message = short((activity.cause ?? activity).message);
  return { boundary: 'everturn', reason: `${activity.activityType}-failed`, message };
}

/** Boundary and reason of what an activity or a workflow threw. */
export function applicationFailure({ type, details }: ApplicationFailure): Required<Omit<FailureFacts, 'message'>> {
  const reason = type ?? 'error';
  return { boundary: boundaryOf(reason, details?.[0]), reason };
}

/** Failures in old histories have no details: their reasons tell. What no list names, a TypeError say, is our bug. */
function boundaryOf(reason: string, detail: unknown): Boundary {
  const { boundary } = (detail ?? {}) as Partial<FailureDetails>;
  return isBoundary(boundary) ? boundary : (boundaryOfReason(reason) ?? 'everturn');
}

type Payloads = NonNullable<NonNullable<TimeoutFailure['failure']>['cause']>['encodedAttributes'];

function firstOf(payloads: readonly NonNullable<Payloads>[] | null | undefined): unknown {
  const first = payloads?.[0];
  try {
    return first ? defaultPayloadConverter.fromPayload(first) : undefined;
  } catch {
    return undefined; // written by another converter, or by no Everturn
  }
}

function short(message: string): string {
  return message.slice(0, MAX_MESSAGE_CHARS);
}
