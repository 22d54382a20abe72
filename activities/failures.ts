// Translates our errors, once, into what Temporal understands: the reason as type, the boundary
// as its first detail, and whether trying again can help. A broken call is logged where it happened; history gets one line.
// A worker that may not or cannot do a step, where another one could, leaves it to others and says which worker it is.

import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { EverturnError, explain } from '../domain/errors/errors.ts';
import { headAndTail } from '../domain/text/foreign-text.ts';
import type { FailureDetails } from '../domain/rollout/rollout-facts.ts';

/** Another worker gets the first tries soon; if none can do it, the pauses grow as for anything else. */
const SOON = { tries: 8, ms: 2000 };

/** `mayBeOthers`: a command or a worker has begun what this step belongs to, so that some worker may do it. */
export function asFailure(error: unknown, mayBeOthers = false, worker?: string): unknown {
  if (!(error instanceof EverturnError)) return error;
  const isOfWorker = error.ofThisWorker && (error.retryable || mayBeOthers);
  const who = isOfWorker && worker ? ` (worker ${worker})` : '';
  return ApplicationFailure.create({
    message: headAndTail(explain(error), 2000) + who,
    type: error.reason,
    details: [{ boundary: error.boundary } satisfies FailureDetails],
    nonRetryable: !error.retryable && !isOfWorker,
    ...(isOfWorker && mayGoElsewhere() && { nextRetryDelay: SOON.ms }),
    // Nothing is wrong: a cancelled run's would fill the log and the metrics.
    ...(error.reason === 'rollout-ended' && { category: ApplicationFailureCategory.BENIGN }),
    // A server's Retry-After is respected. Temporal takes a delay of 0 as the end of all tries.
    ...(error.retryAfterMs ? { nextRetryDelay: error.retryAfterMs } : {}),
  });
}

/** A local activity is tried again by the same worker. */
function mayGoElsewhere(): boolean {
  const { isLocal, attempt } = Context.current().info;
  return !isLocal && attempt <= SOON.tries;
}

/** Steps of rollouts and runs that some worker has begun. Any client may write the input of another step, which fails at once. */
const STEPS: ReadonlySet<string> = new Set([
  ...['generate', 'askEnvironment', 'evaluate', 'endEnvironment', 'callTool', 'runAgent', 'log', 'finish'],
  ...['page', 'settle', 'conclude', 'cancelWaiting', 'watchGroups'],
]);
const OPENING: ReadonlySet<string> = new Set(['accept', 'open', 'begin']);
/** Fields by which a client describes a run or a rollout that no command has made. */
const DESCRIBING = ['dataset', 'row', 'settings'];

function isBegun(name: string, input: unknown): boolean {
  if (!OPENING.has(name)) return STEPS.has(name);
  return typeof input === 'object' && input !== null && !DESCRIBING.some((field) => field in input);
}

/** Wraps each activity so that whatever it throws is translated. */
export function translateFailures<A extends Record<string, (...args: never[]) => Promise<unknown>>>(
  activities: A,
  worker?: string,
): A {
  const entries = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        throw asFailure(error, isBegun(name, args[0]), worker);
      }
    },
  ]);
  return Object.fromEntries(entries) as A;
}
