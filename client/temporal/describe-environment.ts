// Asks the user's own worker, on its task queue, to describe its environment: by a workflow of ours, since only workflows
// reach a queue.

import { randomUUID } from 'node:crypto';
import { WorkflowFailedError } from '@temporalio/client';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { TASK_QUEUE } from '../../domain/names/queues.ts';
import type { Session } from './connection.ts';

export async function describeOnQueue({ client, address }: Session, queue: string): Promise<unknown> {
  try {
    return await client.workflow.execute('describeEnvironment', {
      workflowId: `everturn-describe/${queue}/${randomUUID()}`,
      taskQueue: TASK_QUEUE,
      args: [{ queue }],
      workflowExecutionTimeout: '2 minutes',
      staticSummary: `describe ${queue}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error.cause ?? {};
    throw new EnvironmentError(`The environment on the queue ${queue} at ${address} does not describe itself`, {
      reason: 'environment-unloadable',
      fix: 'Its worker polls that queue, and has the activities `describe` and `respond` (docs/environments.md).',
      cause: cause ?? error.cause,
    });
  }
}
