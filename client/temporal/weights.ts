// Starts and follows updates of a run's weights. The workflow id follows from run and version, so starting is idempotent: a
// second start attaches, or, after the end, gives the version to the servers that lack it.

import { ActivityFailure, ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { calling, type Session } from './connection.ts';
import { progressOf } from './runs.ts';
import { startOptions } from './start-options.ts';
import { ModelError, TemporalError, UsageError } from '../../domain/errors/errors.ts';
import {
  type WeightsInput,
  type WeightsProgress,
  type WeightsResult,
  weightsWorkflowId,
} from '../../domain/weights/weights.ts';

/** The execution of an update, for the calls below. */
export interface StartedUpdate {
  readonly workflowId: string;
  readonly runId: string;
}

/** Starts the update, or attaches to it if it is open. A UsageError where other weights are being loaded as that version. */
export async function startUpdate({ client }: Session, input: WeightsInput): Promise<StartedUpdate> {
  const workflowId = weightsWorkflowId(input);
  const what = `update the weights of run "${input.run}"`;
  const handle = await calling(what, () =>
    client.workflow.start(
      'updateWeights',
      startOptions({
        workflowId,
        input,
        summary: `version ${input.version} from ${input.weights}`,
        memo: { weights: input.weights },
      }),
    ),
  );
  const runId = handle.firstExecutionRunId;
  const { memo } = await calling(what, () => client.workflow.getHandle(workflowId, runId).describe());
  const { weights, out } = { ...memo } as { readonly weights?: unknown; readonly out?: unknown };
  if (weights === input.weights && out === input.out) return { workflowId, runId };
  throw new UsageError(`Version ${input.version} of run "${input.run}" is being loaded from ${String(weights)} now.`, {
    reason: 'update-in-progress',
    fix: 'Other weights need a higher version.',
  });
}

export const updateProgress = (session: Session, { workflowId, runId }: StartedUpdate) =>
  progressOf<WeightsProgress>(session, workflowId, runId);

/** Waits for the end. Throws the error that the update was refused with. */
export async function updateResult({ client }: Session, { workflowId, runId }: StartedUpdate): Promise<WeightsResult> {
  try {
    return (await client.workflow.getHandle(workflowId, runId).result()) as WeightsResult;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    let cause: unknown = error.cause;
    while (cause instanceof ActivityFailure) cause = cause.cause;
    if (cause instanceof ApplicationFailure) {
      const [details] = (cause.details ?? []) as readonly ({ readonly boundary?: unknown } | undefined)[];
      const reason = cause.type as never;
      if (details?.boundary === 'usage') throw new UsageError(cause.message, { reason, cause: undefined });
      if (details?.boundary === 'model') throw new ModelError(cause.message, { reason, cause: undefined });
    }
    const cancelled = cause instanceof CancelledFailure;
    throw new TemporalError(cancelled ? 'The update was cancelled.' : 'The update ended without a result.', {
      reason: cancelled ? 'workflow-cancelled' : 'workflow-terminated',
      fix: 'Repeat it: servers that have the version are left alone.',
      cause,
    });
  }
}

/** Is this attempt at an activity still the one that the server waits for? */
export async function holdsStep(
  { client }: Session,
  { workflowId, runId }: StartedUpdate,
  activityId: string,
  attempt: number,
): Promise<boolean> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return (raw.pendingActivities ?? []).some((it) => it.activityId === activityId && it.attempt === attempt);
  } catch (cause) {
    if (cause instanceof WorkflowNotFoundError) return false;
    throw new TemporalError('The Temporal server does not say whose step this is.', {
      reason: 'temporal-call',
      retryable: true,
      cause,
    });
  }
}
