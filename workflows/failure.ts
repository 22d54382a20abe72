// Turns Temporal's errors into the named failure that a rollout records. A regular activity's failure
// comes wrapped in an ActivityFailure, a local activity's may come bare.

import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { FailureFacts } from '../domain/rollout-facts.ts';

const MAX_MESSAGE_CHARS = 500;

/** Undefined for anything but a failed activity: a bug in workflow code is not a rollout's failure. */
export function failureOf(error: unknown): FailureFacts | undefined {
  const activity = error instanceof ActivityFailure ? error : undefined;
  const cause = activity?.cause ?? error;
  if (cause instanceof ApplicationFailure) return named(cause.type ?? 'error', cause.message);
  if (cause instanceof TimeoutFailure) {
    // The last attempt's own failure says more than the limit that ended the tries. The server sends it as
    // the timeout's cause, which the SDK leaves undecoded.
    const last = cause.failure?.cause;
    const reason = last?.applicationFailureInfo?.type ?? `${activity?.activityType ?? 'activity'}-timeout`;
    return named(reason, last?.message ?? cause.message);
  }
  return activity && named(`${activity.activityType}-failed`, (activity.cause ?? activity).message);
}

function named(reason: string, message: string): FailureFacts {
  return { reason, message: message.slice(0, MAX_MESSAGE_CHARS) };
}
