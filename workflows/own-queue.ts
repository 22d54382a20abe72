// Calls of an environment that is the user's own Temporal worker: its activities, on its task queue. A call waits until a
// worker takes it, for a day at most; its failure is a value, which the rollout records by name.

import * as wf from '@temporalio/workflow';
import type { QueueReply } from '../domain/rollout/environment.ts';
import type { OwnQueue } from '../domain/rollout/rollout-facts.ts';
import { UnreadablePayload } from './payloads.ts';

type Methods = Record<'describe' | 'begin' | 'respond' | 'end', (params: object) => Promise<unknown>>;

export async function callQueue(
  own: OwnQueue,
  method: Exclude<keyof Methods, 'describe'>,
  params: object,
  summary: string,
): Promise<QueueReply> {
  try {
    const activities = wf.proxyActivities<Methods>({
      taskQueue: own.queue,
      startToCloseTimeout: own.timeoutSeconds * 1000,
      scheduleToCloseTimeout: '24 hours',
      retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds', maximumAttempts: 5 },
    });
    const result = await activities[method].executeWithOptions({ summary }, [params]);
    return result instanceof UnreadablePayload ? { failure: unreadable(result, method) } : { result };
  } catch (error) {
    if (wf.isCancellation(error) || !(error instanceof wf.ActivityFailure)) throw error;
    return { failure: failureOf(error, method) };
  }
}

type Failure = Extract<QueueReply, { failure: unknown }>['failure'];

function unreadable({ message: problem }: UnreadablePayload, method: string): Failure {
  const message = `the reply to \`${method}\` is no JSON: ${problem.slice(0, 200)}. Numbers are finite: no NaN, no Infinity`;
  return { reason: 'environment-broken', message };
}

function failureOf({ cause }: wf.ActivityFailure, method: string): Failure {
  if (cause instanceof wf.TimeoutFailure) {
    const late = cause.timeoutType === 'START_TO_CLOSE';
    return late
      ? { reason: 'environment-timeout', message: `no reply to \`${method}\` in its time limit` }
      : { reason: 'environment-not-served', message: `no worker took \`${method}\`` };
  }
  const failureText =
    cause instanceof wf.ApplicationFailure ? `${cause.type ?? 'error'}: ${cause.message}` : String(cause?.message);
  return { reason: 'environment-error', message: `\`${method}\` failed: ${failureText.slice(0, 400)}` };
}

/** The environment's own description of itself, for the command that makes a run of it. */
export async function describeEnvironment({ queue }: { readonly queue: string }): Promise<unknown> {
  const activities = wf.proxyActivities<Methods>({
    taskQueue: queue,
    startToCloseTimeout: '30 seconds',
    scheduleToStartTimeout: '30 seconds',
    retry: { maximumAttempts: 3 },
  });
  return activities.describe.executeWithOptions({ summary: 'describe' }, [{}]);
}
