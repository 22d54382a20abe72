// From what Temporal throws to the named failure that a rollout records.

import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { FailureFacts } from '../domain/rollout-facts.ts';

/** Undefined for anything but a failed activity: a bug in workflow code is not a rollout's failure. */
export function failureOf(error: unknown): FailureFacts | undefined {
  if (!(error instanceof ActivityFailure)) return undefined;
  const { cause, activityType } = error;
  if (cause instanceof ApplicationFailure) {
    return { reason: cause.type ?? 'error', message: cause.message.slice(0, 500) };
  }
  if (cause instanceof TimeoutFailure) {
    // The last attempt's own failure says more than the limit that ended the tries.
    const last = cause.cause instanceof ApplicationFailure ? cause.cause : undefined;
    return { reason: last?.type ?? `${activityType}-timeout`, message: (last ?? cause).message.slice(0, 500) };
  }
  return { reason: `${activityType}-failed`, message: (cause ?? error).message.slice(0, 500) };
}
