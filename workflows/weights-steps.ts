// The activities of an update of weights, as its workflow calls them: each with its time limits and a title for the UI.
// A step that a server did not do is a result, also if the activity itself failed.

import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WeightsPlan } from '../activities/weights.ts';
import { TASK_QUEUE } from '../domain/names/queues.ts';
import type { WeightsInput, WeightsProgress } from '../domain/weights/weights.ts';
import type { SagaSteps, StepResult } from '../domain/weights/weights-saga.ts';
import { failureFacts } from './failure.ts';

const retry = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' } as const;
const common = {
  taskQueue: TASK_QUEUE,
  // Within this time Temporal notices a dead worker and gives its step to another.
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
} as const;

const accepting = proxyActivities<Activities>({ ...common, startToCloseTimeout: '1 hour' });
const short = proxyActivities<Activities>({
  ...common,
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '2 hours',
});
/** The time that a large model takes to load, and the requests in flight before it. */
const loading = proxyActivities<Activities>({
  ...common,
  startToCloseTimeout: '2 hours',
  scheduleToCloseTimeout: '6 hours',
});
/** A server must not stay paused: tried for as long as it may come back. */
const resuming = proxyActivities<Activities>({
  ...common,
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '24 hours',
});
const light = proxyLocalActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '24 hours',
  localRetryThreshold: '20 seconds',
  retry,
});

export function declare(input: WeightsInput): Promise<WeightsPlan> {
  return accepting.declareWeights.executeWithOptions({ summary: 'accept the version' }, [input]);
}

export function awaitOthers({ out, run }: WeightsInput, { number }: WeightsPlan): Promise<boolean> {
  return accepting.awaitOtherUpdates.executeWithOptions({ summary: 'one update at a time' }, [{ out, run, number }]);
}

export function note(
  { out, run }: WeightsInput,
  { number }: WeightsPlan,
  progress: WeightsProgress,
  loaded: boolean,
): Promise<void> {
  return light.noteWeights.executeWithOptions({ summary: progress.state }, [{ out, run, number, progress, loaded }]);
}

export function sagaSteps({ out, run, apiKeyEnv }: WeightsInput, { number, label }: WeightsPlan): SagaSteps {
  const step = (server: string) => ({ out, run, number, server, ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }) });
  const result = async <T>(asked: Promise<StepResult<T>>): Promise<StepResult<T>> => {
    try {
      return await asked;
    } catch (error) {
      const failure = failureFacts(error);
      if (!failure) throw error;
      return { ok: false, reason: failure.reason, error: failure.message };
    }
  };
  return {
    pause: (url) => result(short.pauseServer.executeWithOptions({ summary: `pause ${url}` }, [step(url)])),
    load: (url) => result(loading.loadWeights.executeWithOptions({ summary: `load ${label} · ${url}` }, [step(url)])),
    resume: (url, as) =>
      result(resuming.resumeServer.executeWithOptions({ summary: `continue ${url}` }, [{ ...step(url), label: as }])),
  };
}
