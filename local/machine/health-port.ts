// A worker's health over HTTP, for Kubernetes and load balancers: `/live` answers 200 while the process works, `/ready`
// 200 while it takes work, else 503 and why not; `/metrics` is for Prometheus. Nothing else is served, and nothing is read
// from a request but its path.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../../domain/errors/errors.ts';
import { type Metrics, passOnMetrics, sendText } from './metrics-relay.ts';

export interface Health {
  /** Null while it takes work; else why not. */
  readonly problem: () => string | null;
  readonly metrics: Metrics;
}

export interface HealthPort {
  readonly port: number;
  close(): void;
}

export async function openHealthPort(host: string, port: number, { problem, metrics }: Health): Promise<HealthPort> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 8192 },
    (request, reply) => {
      const path = request.url?.split('?', 1)[0];
      if (path === '/metrics') return void passOnMetrics(metrics, reply);
      if (path === '/live') return sendText(reply, 200, 'live');
      if (path !== '/ready') return sendText(reply, 404, 'not found: /live, /ready, /metrics');
      const why = problem();
      sendText(reply, why === null ? 200 : 503, why ?? 'ready');
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
