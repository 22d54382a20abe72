// The client side of one rollout: a new attempt at it.

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../../domain/names/ids.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { calling, type Session } from './connection.ts';
import { startOptions } from './start-options.ts';

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
