// A worker's two connections to its cluster (the client's and the SDK core's), with our search attributes there: opened
// before, after or during an outage of the cluster.

import { NativeConnection } from '@temporalio/worker';
import { awaitCluster, type UntilAnswered, type Waiting } from './await-cluster.ts';
import { clusterAddress, clusterConfig } from './cluster-settings.ts';
import { connect, type Session } from './connection.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

export interface WorkerConnection {
  readonly session: Session;
  readonly connection: NativeConnection;
  /** The steps that follow ask through this: the cluster may go away between any two. */
  readonly untilAnswered: UntilAnswered;
}

export async function openWorkerConnection(waiting: Waiting): Promise<WorkerConnection> {
  const untilAnswered = awaitCluster(clusterAddress(), waiting);
  const session = await untilAnswered(() => connect());
  const { connectionOptions } = clusterConfig();
  const connection = await untilAnswered(() => NativeConnection.connect({ ...connectionOptions }));
  await untilAnswered(() => ensureSearchAttributes(session.client.connection, session.namespace));
  return { session, connection, untilAnswered };
}
