// The options with which every workflow of a run is started: a second start attaches to one that is open, and one that
// has closed is started again.

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { TASK_QUEUE } from '../../domain/names/queues.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../../domain/names/ids.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { calling, type Session } from './connection.ts';

const RUN = defineSearchAttributeKey('EverturnRun', SearchAttributeType.KEYWORD);
const SUMMARY_CHARS = 180;

interface Start<A extends { readonly run: string; readonly out: string }> {
  readonly workflowId: string;
  readonly input: A;
  /** Its title in the UI. */
  readonly summary: string;
  /** Beside the run's folder. */
  readonly memo?: Readonly<Record<string, unknown>>;
}

export function startOptions<A extends { readonly run: string; readonly out: string }>(start: Start<A>) {
  const { workflowId, input, summary, memo } = start;
  return {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: summary.slice(0, SUMMARY_CHARS),
    memo: { out: input.out, ...memo },
    typedSearchAttributes: [{ key: RUN, value: input.run }],
  };
}

const QUERY = defineSearchAttributeKey('EverturnQuery', SearchAttributeType.KEYWORD);

/** Starts one rollout of a run's data set, or attaches to it if it is open. `result` waits for its end. */
export async function startRollout(
  { client }: Session,
  input: RolloutInput,
  { query, title }: { readonly query: string; readonly title: string },
): Promise<{ readonly workflowId: string; result(): Promise<RolloutResult> }> {
  const { run, sample = 0, attempt = 1 } = input;
  const workflowId = rolloutWorkflowId({ run, query, sample, attempt });
  const options = startOptions({ workflowId, input, summary: title });
  await calling(`start rollout "${workflowId}"`, () =>
    client.workflow.start('rollout', {
      ...options,
      typedSearchAttributes: [...options.typedSearchAttributes, { key: QUERY, value: query }],
    }),
  );
  return {
    workflowId,
    result: () => client.workflow.getHandle(workflowId).result() as Promise<RolloutResult>,
  };
}
