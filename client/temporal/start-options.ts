// The options with which every workflow of a run is started: a second start attaches to one that is open, and one that
// has closed is started again.

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { TASK_QUEUE } from '../../domain/names/queues.ts';

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
