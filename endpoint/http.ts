// Requests and replies of agents by HTTP: a server at an address, keys, and JSON bodies of bounded size.

import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonObject } from '../domain/text/json.ts';
import { DoubtfulJson, strictJson } from '../domain/text/json-text.ts';
import { RefusedRequest } from './dialects/dialect.ts';

const LOOPBACK = '127.0.0.1';
const MOST_BYTES = 64 * 2 ** 20;

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
    if (isForeign) return send(response, 401, failure('the request names another host', 'wrong-host'));
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

export const failure = (message: string, code: string): JsonObject => ({
  type: 'error',
  error: { type: 'invalid_request_error', message, code, param: null },
});

/** Never retried by a client that heeds the header. */
export function send(response: ServerResponse, status: number, body: Json): void {
  const refused = status < 400 || status >= 500 ? {} : { 'x-should-retry': 'false' };
  response.writeHead(status, { 'content-type': 'application/json', ...refused }).end(JSON.stringify(body));
}

export function hasKey({ headers }: IncomingMessage, key: string): boolean {
  const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(String(given)), digest(key));
}

export async function bodyOf(message: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new RefusedRequest('malformed', '', `is larger than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  try {
    const text = UTF8.decode(Buffer.concat(parts));
    const body = strictJson(text);
    return HALF_CHARACTER.test(text) ? wellFormed(body) : body;
  } catch (error) {
    if (error instanceof DoubtfulJson) throw new RefusedRequest('malformed', '', error.message);
    const problem = error instanceof SyntaxError ? `JSON: ${error.message.slice(0, 200)}` : 'UTF-8';
    throw new RefusedRequest('malformed', '', `is no ${problem}`);
  }
}

/** Throws a TypeError for other bytes. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** An escape that may be half a character: no file of UTF-8 holds one. */
const HALF_CHARACTER = /\\ud[89a-f]/i;

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), wellFormed(part)]));
}
