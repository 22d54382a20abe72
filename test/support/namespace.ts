// A namespace of a test's own on the shared server: workers' queues have fixed names, so each test file has its own.

import { Client, type Connection } from '@temporalio/client';
import { until } from './until.ts';

/** Registers the namespace, and resolves to a client of it once the server knows it. */
export async function openNamespace(connection: Connection, namespace: string): Promise<Client> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const client = new Client({ connection, namespace });
  await until('the namespace', () => client.workflow.count().then(Boolean, () => undefined));
  return client;
}
