// A worker's health over HTTP, for Kubernetes and load balancers: `/live` answers 200 while the process works, `/ready`
// 200 while it takes work, else 503 and why not; `/metrics` is for Prometheus. Nothing else is served, and nothing is read
// from a request but its path.

import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { UsageError } from '../../domain/errors/errors.ts';
import { withoutSteering } from '../../domain/text/foreign-text.ts';

interface Health {
  /** Null while it takes work; else why not. */
  readonly problem: () => string | null;
  readonly metrics: Metrics;
}

export async function openHealthPort(host: string, port: number, { problem, metrics }: Health) {
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

export type Metrics =
  | { readonly kind: 'at'; readonly host: string; readonly port: number }
  | { readonly kind: 'none'; readonly status: 404 | 503; readonly why: string };

export interface RelayLimits {
  readonly timeMs: number;
  readonly bytes: number;
}

/** Prometheus gives up after 10 s by default. */
const LIMITS: RelayLimits = { timeMs: 8000, bytes: 2 ** 26 };

export async function passOnMetrics(source: Metrics, reply: ServerResponse, limits = LIMITS): Promise<void> {
  if (source.kind === 'none') return sendText(reply, source.status, source.why);
  const late = AbortSignal.timeout(limits.timeMs);
  const gone = new AbortController();
  reply.once('close', () => gone.abort());
  const signal = AbortSignal.any([late, gone.signal]);
  try {
    const answer = await asked(source, signal);
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    const type = answer.headers['content-type'] ?? 'text/plain; charset=utf-8';
    // No `connection: close`: with it some readers take a text that breaks off for a whole one.
    reply.writeHead(200, { 'content-type': type });
    let bytes = 0;
    for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>) {
      if ((bytes += Buffer.byteLength(part)) > limits.bytes) throw new Error(`more than ${limits.bytes} bytes`);
      if (!reply.write(withoutSteering(part))) await once(reply, 'drain', { signal });
    }
    if (!answer.complete) throw new Error('it broke off');
    reply.end();
  } catch (error) {
    const why = late.aborted ? `no answer within ${limits.timeMs / 1000} s` : (error as Error).message;
    if (reply.headersSent) reply.destroy();
    else sendText(reply, 503, `no metrics: ${why}`);
  }
}

function sendText(reply: ServerResponse, status: number, text: string): void {
  reply.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
}

function asked({ host, port }: Metrics & { kind: 'at' }, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ host, port, path: '/metrics', agent: false, signal }, resolve).once('error', reject);
  });
}
