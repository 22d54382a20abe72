// Requests and replies of agents by HTTP: a server at an address, keys, and replies in JSON.

import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonObject } from '../domain/text/json.ts';

const LOOPBACK = '127.0.0.1';

export interface Listening {
  /** Without a path. */
  readonly url: string;
  /** Requests that come after it are refused. */
  close(): Promise<void>;
}

/** On loopback only requests by a name of this machine are answered: a page in a browser has none. */
export async function listenAt(
  answer: (message: IncomingMessage, response: ServerResponse, path: string) => Promise<void>,
  { host = LOOPBACK, port = 0 } = {},
): Promise<Listening> {
  const isLocal = host === LOOPBACK || host === 'localhost';
  const server = createServer({ requestTimeout: 60_000 }, (message, response) => {
    const isForeign = isLocal && !/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(message.headers.host ?? '');
    if (isForeign) return sendJson(response, 401, errorBody('the request names another host', 'wrong-host'));
    answer(message, response, (message.url ?? '/').split('?')[0]!).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };
}

export const errorBody = (message: string, code: string): JsonObject => ({
  type: 'error',
  error: { type: 'invalid_request_error', message, code, param: null },
});

/** Never retried by a client that heeds the header. */
export function sendJson(response: ServerResponse, status: number, body: Json): void {
  const refused = status < 400 || status >= 500 ? {} : { 'x-should-retry': 'false' };
  response.writeHead(status, { 'content-type': 'application/json', ...refused }).end(JSON.stringify(body));
}

export function hasKey({ headers }: IncomingMessage, key: string): boolean {
  const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(String(given)), digest(key));
}
