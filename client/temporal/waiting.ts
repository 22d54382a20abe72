// Whether a rollout only waits for a generation that no worker has begun, by the server's own account of one workflow,
// which is exact, unlike a list; and its cancellation.

import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** temporal.api.enums.v1: WorkflowExecutionStatus and PendingActivityState. */
const RUNNING = 1;
const SCHEDULED = 1;
/** A status of gRPC. */
const NOT_FOUND = 5;

/** False for one that does anything else, is closed or unknown. */
export async function isWaiting({ connection, options }: Client, workflowId: string): Promise<boolean> {
  try {
    const { workflowExecutionInfo, pendingActivities, pendingWorkflowTask } =
      await connection.workflowService.describeWorkflowExecution({
        ...{ namespace: options.namespace, execution: { workflowId } },
      });
    const [activity, ...more] = pendingActivities ?? [];
    return (
      workflowExecutionInfo?.status === RUNNING &&
      // Else a step of its workflow is under way, or due.
      !pendingWorkflowTask &&
      more.length === 0 &&
      activity?.activityType?.name === 'generate' &&
      activity.state === SCHEDULED &&
      // A worker that was thought dead may still have an attempt before this one.
      (activity.attempt ?? 1) <= 1
    );
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Does nothing to one that has closed. */
export async function cancelRollout(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).cancel();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || (error as { readonly code?: unknown } | null)?.code === NOT_FOUND;
}
