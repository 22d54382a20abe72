// The facts by which a run is cancelled: whether it is being stopped, and whether a rollout only waits for a generation that no worker
// has begun, by the server's own account of one workflow, which is exact, unlike a list.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Session } from './connection.ts';
import { describeWorkflow, type WorkflowFacts } from './runs.ts';

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

const SHARED_MS = 1000;
const LATE_MS = 1000;

type IsStopping = (out: string, run: string) => Promise<boolean>;

/**
 * Whether a run is being stopped, as the memo of its workflow says: written before the cancellations of its rollouts go out. A
 * process asks once a second. A run whose server does not answer soon, or that has no such memo, is not being stopped.
 */
export function openStopping(session: Pick<Session, 'client'>): IsStopping {
  const asked = new Map<string, Promise<WorkflowFacts | undefined>>();
  const ask = (run: string) => {
    const described = describeWorkflow(session, run, 1).catch(() => undefined);
    const facts = Promise.race([described, sleep(LATE_MS, undefined, { ref: false })]);
    void facts.then(() => setTimeout(() => asked.delete(run), SHARED_MS).unref());
    asked.set(run, facts);
    return facts;
  };
  return async (out, run) => {
    const facts = await (asked.get(run) ?? ask(run));
    // Another run of this name may be in another folder.
    const isOfRun = facts?.state === 'running' && (facts.out === null || facts.out === out);
    return isOfRun && facts.memo?.state === 'stopping';
  };
}
