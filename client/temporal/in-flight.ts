// Some workflows of a run that is open: its own, some of its blocks, and the rollouts that each began first of those in
// flight. By the server's account of a workflow and its children, which is exact, and for which a cluster has no small
// limit as for its lists. One list is asked for where a workflow continued as new and has begun nothing since.

import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Session } from './connection.ts';

const BLOCKS = 4;

export interface DescribedWorkflow {
  readonly workflowId: string;
  readonly raw: WorkflowExecutionDescription['raw'];
}

/** `most` rollouts, about. */
export async function describeInFlight({ client }: Session, run: string, most: number): Promise<DescribedWorkflow[]> {
  const all = (ids: readonly string[]) => Promise.all(ids.map((id) => described(client, id)));
  const root = await described(client, run);
  const parents = [root, ...(await all(childrenOf(root, 'block').slice(0, BLOCKS)))];
  const each = Math.ceil(most / Math.max(1, parents.length - 1));
  const known = parents.flatMap((parent) => childrenOf(parent, 'rollout').slice(0, each));
  const ids = known.length === 0 && parents.some(hasContinued) ? await listed(client, run, most) : known;
  return [...parents, ...(await all(ids))];
}

async function described(client: Client, workflowId: string): Promise<DescribedWorkflow> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  return { workflowId, raw };
}

/** The workflow ids of pending children, in the order of their start. */
function childrenOf({ raw }: DescribedWorkflow, type: string): string[] {
  return (raw.pendingChildren ?? [])
    .filter(({ workflowTypeName }) => workflowTypeName === type)
    .toSorted((a, b) => Number(a.initiatedId) - Number(b.initiatedId))
    .flatMap(({ workflowId }) => workflowId ?? []);
}

function hasContinued({ raw: { workflowExecutionInfo: info } }: DescribedWorkflow): boolean {
  return Boolean(info?.firstRunId) && info?.firstRunId !== info?.execution?.runId;
}

async function listed(client: Client, run: string, most: number): Promise<string[]> {
  const query = `EverturnRun = '${run}' AND WorkflowType = 'rollout' AND ExecutionStatus = 'Running'`;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: most })) {
    if (ids.push(workflowId) >= most) break;
  }
  return ids;
}
