// The client side of one rollout: a message to it while it is played, and a new attempt at it.

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../../domain/run/ids.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import type { Awaited, Message } from '../../domain/text/say.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import { calling, type Session } from './connection.ts';
import { updating } from './runs.ts';
import { startOptions } from './start-options.ts';

const QUERY = defineSearchAttributeKey('EverturnQuery', SearchAttributeType.KEYWORD);

/**
 * A person's message to a rollout in flight. The update has an id of its content: the same message of the same person
 * reaches a rollout once, however often it is sent.
 */
export async function sayTo({ client }: Session, workflowId: string, message: Message): Promise<Awaited> {
  const updateId = `say-${sha256Hex(JSON.stringify([message.by, message.text])).slice(0, 32)}`;
  let awaited: Awaited | undefined;
  await updating(client, `Rollout "${workflowId}"`, 'take the message', async () => {
    const handle = client.workflow.getHandle(workflowId);
    awaited = await handle.executeUpdate<Awaited, [Message]>('say', { args: [message], updateId });
  });
  return awaited!;
}

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
