// Why a run stands still: an activity of it, or of a few of its rollouts, that is tried again and again, or that no
// worker takes. Undefined where there is no such thing, or where the server does not say.

import { takesActivities } from '../client.ts';
import type { Session } from '../connection.ts';
import { CODE_QUEUE, GENERATE_QUEUE } from '../domain/queues.ts';
import { oneLine } from './format.ts';

const ROLLOUTS = 8;
const CALL_MS = 5_000;
/** temporal.api.enums.v1.PendingActivityState: handed to no worker yet. */
const SCHEDULED = 1;

interface Pending {
  readonly workflowId: string;
  readonly type: string;
  readonly state: number;
  readonly failure: string | undefined;
}

export async function troubleOf(session: Session, run: string): Promise<string | undefined> {
  const pending = await pendingOf(session, run);
  const failing = pending.find(({ failure }) => failure);
  if (!failing) return missingWorker(session, pending);
  const { type, workflowId, failure } = failing;
  return oneLine(`Tried again and again, ${type} of ${workflowId}: ${failure}`).slice(0, 600);
}

/** The same for who must not print what a server or a program said: only what no worker takes. */
export async function missingWorkerOf(session: Session, run: string): Promise<string | undefined> {
  return missingWorker(session, await pendingOf(session, run));
}

/** By the activity's type: which queue it waits in, and what somebody can do. Others are the run's own workers'. */
const QUEUES: Readonly<Record<string, { readonly queue: string; readonly work: string; readonly fix: string }>> = {
  generate: {
    queue: GENERATE_QUEUE,
    work: 'Answers are',
    fix: "Start `everturn worker` on any machine that reaches the model and the run's folder.",
  },
  evaluate: {
    queue: CODE_QUEUE,
    work: 'Programs are',
    fix: 'Start `everturn worker` where bubblewrap is installed; a worker without a proven sandbox says so when it starts.',
  },
};

async function missingWorker(session: Session, pending: readonly Pending[]): Promise<string | undefined> {
  const waiting = new Set(pending.filter(({ state }) => state === SCHEDULED).map(({ type }) => QUEUES[type]));
  for (const known of waiting) {
    if (!known || (await takesActivities(session, known.queue)) !== false) continue;
    return `${known.work} waiting, and no worker takes them (queue ${known.queue}). ${known.fix} Nothing is lost meanwhile.`;
  }
  return undefined;
}

async function pendingOf({ client }: Session, run: string): Promise<Pending[]> {
  try {
    return await client.withDeadline(Date.now() + CALL_MS, async () => {
      const ids = [run];
      const query = `EverturnRun = '${run}' AND WorkflowType = 'rollout' AND ExecutionStatus = 'Running'`;
      for await (const { workflowId } of client.workflow.list({ query, pageSize: ROLLOUTS })) {
        if (ids.push(workflowId) > ROLLOUTS) break;
      }
      const found = await Promise.all(
        ids.map(async (workflowId) => {
          const { raw } = await client.workflow.getHandle(workflowId).describe();
          return (raw.pendingActivities ?? []).map((activity) => ({
            workflowId,
            type: activity.activityType?.name ?? 'an activity',
            state: activity.state ?? 0,
            failure: activity.lastFailure?.message ?? undefined,
          }));
        }),
      );
      return found.flat();
    });
  } catch {
    return [];
  }
}
