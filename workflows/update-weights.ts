// New weights for a run, as a saga: pause, load, set the version, resume, server by server (domain/weights/weights-saga.ts). A
// paused server is always resumed, also when this workflow is cancelled: only servers not yet begun are left out.
// Idempotent; one update of a run at a time. A partial failure is a result, by server.

import {
  CancelledFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { WeightsPlan } from '../activities/weights.ts';
import {
  type ServerUpdate,
  updateStateOf,
  type UpdateStep,
  type WeightsInput,
  type WeightsProgress,
  type WeightsResult,
  type WeightsState,
} from '../domain/weights/weights.ts';
import { updateServers } from '../domain/weights/weights-saga.ts';
import { weightsTable } from '../domain/weights/weights-table.ts';
import { weightsProgress } from './messages.ts';
import { awaitOthers, declare, note, sagaSteps } from './weights-steps.ts';

export async function updateWeights(input: WeightsInput): Promise<WeightsResult> {
  const { run, version, weights } = input;
  const root = CancellationScope.current();
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
  const show = () => setCurrentDetails(weightsTable(progress()));
  setHandler(weightsProgress, progress, { description: 'Which servers have the version, and which do not, and why' });
  show();

  const plan = await declare(input);
  label = plan.label;
  for (const url of plan.servers ?? []) steps[url] = 'waiting';
  show();
  const save = (loaded = false) => {
    show();
    return CancellationScope.nonCancellable(() => note(input, plan, progress(), loaded));
  };
  const mayBegin = await myTurn(input, plan);

  await CancellationScope.nonCancellable(async () => {
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
        await save(server.state === 'updated' || server.state === 'already');
      },
    });
  });
  const cancelled = root.consideredCancelled;
  state = cancelled ? 'cancelled' : mayBegin === false ? 'superseded' : updateStateOf(done());
  await save();
  if (cancelled) throw new CancelledFailure('The update was cancelled; servers that were begun were finished.');
  return { run, version, label: plan.label, weights, state, servers: done() };
}

/** False if a later update has begun; null if this one was cancelled before it could begin. */
async function myTurn(input: WeightsInput, plan: WeightsPlan): Promise<boolean | null> {
  try {
    return await awaitOthers(input, plan);
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}
