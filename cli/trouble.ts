// Why a run stands still: the last failure of an activity that is being tried again, of the collection
// itself or of a few of its rollouts.

import type { Session } from '../connection.ts';
import { oneLine } from './format.ts';

const ROLLOUTS = 4;
const CALL_MS = 5_000;

/** Undefined where nothing is being retried, or where the server does not say. */
export async function troubleOf({ client }: Session, run: string): Promise<string | undefined> {
  try {
    return await client.withDeadline(Date.now() + CALL_MS, async () => {
      const ids = [run];
      const query = `EverturnRun = '${run}' AND WorkflowType = 'rollout' AND ExecutionStatus = 'Running'`;
      for await (const { workflowId } of client.workflow.list({ query, pageSize: ROLLOUTS })) {
        if (ids.push(workflowId) > ROLLOUTS) break;
      }
      for (const id of ids) {
        const { raw } = await client.workflow.getHandle(id).describe();
        const failing = raw.pendingActivities?.find((a) => a.lastFailure?.message);
        if (failing) {
          const what = `${failing.activityType?.name ?? 'an activity'} of ${id}`;
          return oneLine(`Tried again and again, ${what}: ${failing.lastFailure?.message ?? ''}`).slice(0, 600);
        }
      }
      return undefined;
    });
  } catch {
    return undefined;
  }
}
