// An HTTP server on a free port of this machine, for tests that play the other side of a request themselves.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  close(): void;
}

export async function listenHttp(answer: RequestListener): Promise<HttpListener> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
