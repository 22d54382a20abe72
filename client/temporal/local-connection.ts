// A client's connection to a Temporal server for one question. Never through a proxy if the server is on this machine:
// gRPC would send loopback addresses through `http_proxy` too.

import { Connection, type ConnectionOptions } from '@temporalio/client';

/** Spread into the options of every connection to `address`. */
export function proxyOptions(address: string): Pick<ConnectionOptions, 'channelArgs'> {
  return /^(127\.|localhost:|\[::1\])/.test(address) ? { channelArgs: { 'grpc.enable_http_proxy': 0 } } : {};
}

/** Closes the connection whatever `question` does; connecting and answering have `deadlineMs` together. */
export async function ask<T>(
  address: string,
  deadlineMs: number,
  question: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = Connection.lazy({ address, connectTimeout: deadlineMs, ...proxyOptions(address) });
  try {
    return await connection.withDeadline(Date.now() + deadlineMs, () => question(connection));
  } finally {
    await connection.close().catch(() => undefined);
  }
}
