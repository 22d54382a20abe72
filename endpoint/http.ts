// Requests and replies of agents by HTTP: a server at an address, keys, and replies in JSON.

import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
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
  server.on('clientError', refuseUnread);
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

/**
 * Never retried by a client that heeds the header. The reply ends behind the request, whose rest is read and dropped: a client that
 * is cut off while it sends never reads the reply.
 */
export function sendJson(response: ServerResponse, status: number, body: Json): void {
  const { req: message } = response;
  const text = JSON.stringify(body);
  const refused = status < 400 || status === 429 || status >= 500 ? {} : { 'x-should-retry': 'false' };
  const length = { 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, { 'content-type': 'application/json', ...length, ...refused });
  if (message.complete) return void response.end(text);
  response.write(text);
  message.once('end', () => response.end()).resume();
}

const UNREAD: Readonly<Record<string, readonly [status: string, words: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers of the request are too large'],
  HPE_INVALID_HEADER_TOKEN: [
    '400 Bad Request',
    'a header has a character that none may have, such as a control character',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not come in time'],
};

const IDLE_MS = 10_000;

/** A request that is none of HTTP, which Node would refuse without a word. What its client still sends is dropped here, too. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writableEnded) return;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, words] = UNREAD[error.code ?? ''] ?? ['400 Bad Request', `the request is no HTTP: ${error.message}`];
  const body = JSON.stringify(errorBody(words, 'malformed'));
  const head = [`HTTP/1.1 ${status}`, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.end([...head, 'connection: close', '', body].join('\r\n')).resume();
}

export function hasKey({ headers }: IncomingMessage, key: string): boolean {
  const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(String(given)), digest(key));
}
