// Turns Temporal's errors into the named failure that a rollout records: its boundary, its reason and its message. A
// regular activity's failure comes wrapped in an ActivityFailure, a local activity's may come bare.

import { ActivityFailure, ApplicationFailure, defaultPayloadConverter, TimeoutFailure } from '@temporalio/workflow';
import { headAndTail } from '../domain/text/foreign-text.ts';
import { boundaryOf, type FailureFacts } from '../domain/rollout/rollout-facts.ts';

const MAX_MESSAGE_CHARS = 1_000;

/** Undefined for anything but a failed activity: a bug in workflow code is not a rollout's failure. */
export function failureFacts(error: unknown): FailureFacts | undefined {
  const activity = error instanceof ActivityFailure ? error : undefined;
  const cause = activity?.cause ?? error;
  if (cause instanceof ApplicationFailure) return { ...applicationFailure(cause), message: short(cause.message) };
  if (cause instanceof TimeoutFailure) {
    // The last attempt's own failure says more than the limit that ended the tries. The server sends it as
    // the timeout's cause, which the SDK leaves undecoded.
    const last = cause.failure?.cause;
    const type = last?.applicationFailureInfo?.type;
    const facts: Where = type
      ? { boundary: boundaryOf(type, () => detailIn(last)), reason: type }
      : { boundary: 'temporal', reason: `${activity?.activityType ?? 'activity'}-timeout` };
    return { ...facts, message: short(last?.message ?? cause.message) };
  }
  return activity && unknown(activity);
}

function unknown({ activityType, cause, message }: ActivityFailure): FailureFacts {
  return { boundary: 'everturn', reason: `${activityType}-failed`, message: short(cause?.message ?? message) };
}

/** Boundary and reason of what an activity or a workflow threw. */
export function applicationFailure({ type, details }: ApplicationFailure): Where {
  const reason = type ?? 'error';
  return { boundary: boundaryOf(reason, () => details?.[0]), reason };
}

type Where = Required<Omit<FailureFacts, 'message'>>;

/** The first detail of a failure that the SDK left undecoded. */
function detailIn(failure: TimeoutFailure['failure']): unknown {
  const payloads = failure?.applicationFailureInfo?.details?.payloads;
  return payloads?.[0] && defaultPayloadConverter.fromPayload(payloads[0]);
}

const short = (message: string): string => headAndTail(message, MAX_MESSAGE_CHARS);
