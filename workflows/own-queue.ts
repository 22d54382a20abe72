// Calls of an environment that is the user's own Temporal worker: its activities, on its task queue. A call waits until a
// worker takes it, for a day at most; its failure is a value, which the rollout records by name.

import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Said } from '../domain/environment.ts';
import type { OwnQueue } from '../domain/rollout-facts.ts';

type Methods = Record<'describe' | 'begin' | 'respond' | 'end', (params: object) => Promise<unknown>>;

const DESCRIBE_SECONDS = 30;

/** The activities of that queue. */
function activitiesOf({ queue, timeoutSeconds }: OwnQueue, attempts: number, waits: number | null) {
  return proxyActivities<Methods>({
    taskQueue: queue,
    startToCloseTimeout: timeoutSeconds * 1000,
    ...(waits === null ? { scheduleToCloseTimeout: '24 hours' } : { scheduleToStartTimeout: waits }),
    retry: {
      initialInterval: '500 ms',
      backoffCoefficient: 2,
      maximumInterval: '30 seconds',
      maximumAttempts: attempts,
    },
  });
}

export async function callQueue(
  own: OwnQueue,
  method: Exclude<keyof Methods, 'describe'>,
  params: object,
  summary: string,
): Promise<Said> {
  try {
    return { result: await activitiesOf(own, 5, null)[method].executeWithOptions({ summary }, [params]) };
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return { failure: failureOf(error, method) };
  }
}

function failureOf({ cause }: ActivityFailure, method: string): Extract<Said, { failure: unknown }>['failure'] {
  if (cause instanceof TimeoutFailure) {
    const late = cause.timeoutType === 'START_TO_CLOSE';
    return late
      ? { reason: 'environment-timeout', message: `no reply to \`${method}\` in its time limit` }
      : { reason: 'environment-not-served', message: `no worker took \`${method}\`` };
  }
  const said =
    cause instanceof ApplicationFailure ? `${cause.type ?? 'error'}: ${cause.message}` : String(cause?.message);
  return { reason: 'environment-error', message: `\`${method}\` failed: ${said.slice(0, 400)}` };
}

/** The environment's own description of itself, for the command that makes a run of it. */
export async function describeEnvironment({ queue }: { readonly queue: string }): Promise<unknown> {
  const own = { queue, timeoutSeconds: DESCRIBE_SECONDS };
  return activitiesOf(own, 3, DESCRIBE_SECONDS * 1000).describe.executeWithOptions({ summary: 'describe' }, [{}]);
}
