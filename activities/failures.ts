// Translates our errors, once, into what Temporal understands: the reason as type, the boundary
// as its first detail, and whether trying again can help. A broken call is logged where it happened; history gets one line.

import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { EverturnError, explain } from '../domain/errors.ts';
import type { FailureDetails } from '../domain/rollout-facts.ts';

export function asFailure(error: unknown): unknown {
  if (!(error instanceof EverturnError)) return error;
  return ApplicationFailure.create({
    message: explain(error).slice(0, 2000),
    type: error.reason,
    details: [{ boundary: error.boundary } satisfies FailureDetails],
    nonRetryable: !error.retryable,
    // Nothing is wrong: a cancelled run's would fill the log and the metrics.
    ...(error.reason === 'rollout-ended' && { category: ApplicationFailureCategory.BENIGN }),
    // A server's Retry-After is respected.
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}

/** Wraps each activity so that whatever it throws is translated. */
export function translated<A extends Record<string, (...args: never[]) => Promise<unknown>>>(activities: A): A {
  const entries = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        throw asFailure(error);
      }
    },
  ]);
  return Object.fromEntries(entries) as A;
}
