// New weights for a run, as a saga: pause, load, set the version, resume, server by server (domain/weights/weights-saga.ts). A
// paused server is always resumed, also when this workflow is cancelled: only servers not yet begun are left out.
// Idempotent; one update of a run at a time. A partial failure is a result, by server.

import * as wf from '@temporalio/workflow';
import type { WeightsPlan } from '../activities/weights.ts';
import {
  type ServerUpdate,
  updateStateOf,
  type UpdateStep,
  type WeightsInput,
  type WeightsProgress,
  type WeightsResult,
  type WeightsState,
  weightsTable,
} from '../domain/weights/weights.ts';
import { type SagaSteps, type StepResult, updateServers } from '../domain/weights/weights-saga.ts';
import { weightsProgress } from './messages.ts';
import type { Activities } from '../activities/index.ts';
import { TASK_QUEUE } from '../domain/names/queues.ts';
import { failureFacts } from './failure.ts';

export async function updateWeights(input: WeightsInput): Promise<WeightsResult> {
  const { run, version, weights } = input;
  const root = wf.CancellationScope.current();
  const servers = new Map<string, ServerUpdate>();
  const steps: Record<string, UpdateStep> = {};
  let state: WeightsState = 'running';
  let label: string | null = null;
  // The servers are in the order of the run.
  const done = () => Object.keys(steps).flatMap((url) => servers.get(url) ?? []);
  const progress = (): WeightsProgress => ({
    ...{ run, version, label, weights, state },
    servers: done(),
    steps: { ...steps },
  });
  const show = () => wf.setCurrentDetails(weightsTable(progress()));
  wf.setHandler(weightsProgress, progress, {
    description: 'Which servers have the version, and which do not, and why',
  });
  show();

  const plan = await declare(input);
  label = plan.label;
  for (const url of plan.servers ?? []) steps[url] = 'waiting';
  show();
  const save = (loaded = false) => {
    show();
    return wf.CancellationScope.nonCancellable(() => note(input, plan, progress(), loaded));
  };
  const mayBegin = await myTurn(input, plan);

  await wf.CancellationScope.nonCancellable(async () => {
    await updateServers(plan.servers ?? [], sagaSteps(input, plan), {
      label: plan.label,
      stopped: () => root.consideredCancelled || mayBegin !== true,
      now: Date.now,
      onStep(url, step) {
        steps[url] = step;
        show();
      },
      async onServer(server) {
        servers.set(server.url, server);
        await save(!plan.adapter && (server.state === 'updated' || server.state === 'already'));
      },
    });
  });
  const cancelled = root.consideredCancelled;
  state = cancelled ? 'cancelled' : mayBegin === false ? 'superseded' : updateStateOf(done(), plan.adapter);
  await save(plan.adapter && (state === 'whole' || state === 'partial'));
  if (cancelled) throw new wf.CancelledFailure('The update was cancelled; servers that were begun were finished.');
  return { run, version, label: plan.label, weights, state, servers: done() };
}

/** False if a later update has begun; null if this one was cancelled before it could begin. */
async function myTurn(input: WeightsInput, plan: WeightsPlan): Promise<boolean | null> {
  try {
    return await awaitOthers(input, plan);
  } catch (error) {
    if (wf.isCancellation(error)) return null;
    throw error;
  }
}

const retry = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' } as const;
const common = {
  taskQueue: TASK_QUEUE,
  // Within this time Temporal notices a dead worker and gives its step to another.
  heartbeatTimeout: '10 seconds',
  cancellationType: wf.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
} as const;

const accepting = wf.proxyActivities<Activities>({ ...common, startToCloseTimeout: '1 hour' });
const short = wf.proxyActivities<Activities>({
  ...common,
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '2 hours',
});
/** The time that a large model takes to load, and the requests in flight before it. */
const loading = wf.proxyActivities<Activities>({
  ...common,
  startToCloseTimeout: '2 hours',
  scheduleToCloseTimeout: '6 hours',
});
/** A server must not stay paused: tried for as long as it may come back. */
const resuming = wf.proxyActivities<Activities>({
  ...common,
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '24 hours',
});
const light = wf.proxyLocalActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '24 hours',
  localRetryThreshold: '20 seconds',
  retry,
});

function declare(input: WeightsInput): Promise<WeightsPlan> {
  return accepting.declareWeights.executeWithOptions({ summary: 'accept the version' }, [input]);
}

function awaitOthers({ out, run }: WeightsInput, { number }: WeightsPlan): Promise<boolean> {
  return accepting.awaitOtherUpdates.executeWithOptions({ summary: 'one update at a time' }, [{ out, run, number }]);
}

function note(
  { out, run }: WeightsInput,
  { number }: WeightsPlan,
  progress: WeightsProgress,
  loaded: boolean,
): Promise<void> {
  return light.noteWeights.executeWithOptions({ summary: progress.state }, [{ out, run, number, progress, loaded }]);
}

function sagaSteps({ out, run, apiKeyEnv }: WeightsInput, { number, label }: WeightsPlan): SagaSteps {
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
