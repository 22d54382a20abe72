// A worker's health over HTTP, for Kubernetes and load balancers: `/live` answers 200 while the process works, `/ready`
// 200 while it takes work, else 503 and why not. Nothing else is served, and nothing is read from a request but its path.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../domain/errors.ts';

export interface Health {
  /** Null while it takes work; else why not. */
  readonly problem: () => string | null;
}

export interface HealthPort {
  readonly port: number;
  close(): void;
}

export async function openHealthPort(host: string, port: number, { problem }: Health): Promise<HealthPort> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 8192 },
    (request, reply) => {
      const path = request.url?.split('?', 1)[0];
      const why = path === '/ready' ? problem() : null;
      const status = path !== '/ready' && path !== '/live' ? 404 : why === null ? 200 : 503;
      const text = status === 404 ? 'not found: /live, /ready' : (why ?? path!.slice(1));
      reply.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
    },
  );
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new UsageError(`The health port ${host}:${port} cannot be opened.`, {
          reason: 'bad-value',
          fix:
            cause.code === 'EADDRINUSE'
              ? 'Another process has it: choose another --health-port.'
              : 'Choose another --health-port.',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  // It never keeps the process alive.
  server.unref();
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
