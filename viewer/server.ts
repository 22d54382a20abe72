// The viewer's web server, on 127.0.0.1: three assets and the messages of api.ts as JSON. It serves no file by its
// path; it writes nothing and runs nothing, unless it was started to steer (steer.ts). One strict policy: scripts and styles of its own only, requests to itself only.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { EverturnError, explain, UsageError } from '../domain/errors/errors.ts';
import { isOtherUser } from '../local/machine/own-user.ts';
import type { Assets } from './assets.ts';
import { mustBeOurs, Refusal, jsonIn } from './guard.ts';
import { type Asks, ASKS, flawOfArguments } from './model/asks.ts';
import { ACT_PATH, openSteerRequests, type Steering } from './steer.ts';

export interface ViewServerOptions {
  readonly api: Asks;
  readonly assets: Assets;
  /** 0: any free one. */
  readonly port: number;
  /** Null: none is asked for. */
  readonly token: string | null;
  /** Absent: nothing can be changed. With it, a token is asked for. */
  readonly steering?: Steering;
  readonly onError?: (error: unknown) => void;
}

export interface ViewServer {
  /** The address, with the token if there is one. */
  readonly url: string;
  close(): Promise<void>;
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

export async function serveView(options: ViewServerOptions): Promise<ViewServer> {
  const { api, assets, port, token, steering, onError } = options;
  if (steering && token === null) throw new RangeError('steering needs a token');
  const act = steering && openSteerRequests(steering);
  let bound = port;
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch((error: unknown) => refuse(request, response, error));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}/${token === null ? '' : `?token=${token}`}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request);
    if (token === null && (await isOtherUser(request.socket))) {
      const message =
        "This viewer is another user's; with `everturn view --token`, the address that it prints admits others.";
      throw new Refusal(403, message);
    }
    if (act && url.pathname === ACT_PATH) {
      await send(request, response, 200, JSON_TYPE, JSON.stringify(await act(request, url, { port: bound, token })));
      return;
    }
    const cookie = mustBeOurs(request, url, { port: bound, token });
    if (cookie !== undefined) {
      response.writeHead(303, { ...HEADERS, 'set-cookie': cookie, location: '/' });
      response.end();
      return;
    }
    const asset = Object.hasOwn(assets, url.pathname) ? assets[url.pathname] : undefined;
    if (asset) await send(request, response, 200, asset.type, asset.text);
    else await send(request, response, 200, JSON_TYPE, JSON.stringify(await answerTo(api, url)));
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const status = error instanceof Refusal ? error.status : error instanceof UsageError ? 404 : 500;
    if (!(error instanceof Refusal) && !(error instanceof EverturnError)) onError?.(error);
    if (response.headersSent) response.destroy();
    else void send(request, response, status, JSON_TYPE, JSON.stringify({ error: explain(error) })).catch(() => {});
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';
const zipped = promisify(gzip);
const WORTH_ZIPPING = 4096;

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
): Promise<void> {
  const zip = text.length > WORTH_ZIPPING && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = zip ? await zipped(text, { level: 1 }) : Buffer.from(text);
  const encoding = zip ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(status, { ...HEADERS, ...encoding, 'content-type': type, 'content-length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  // A path of its own only: `//evil.example/` and `http://evil.example/` name another host.
  if (!url.startsWith('/') || url.startsWith('//')) throw new Refusal(400, 'The request names no path of this server.');
  try {
    return new URL(url, 'http://viewer.invalid');
  } catch {
    throw new Refusal(400, 'The request names no path of this server.');
  }
}

async function answerTo(from: Asks, { pathname, searchParams }: URL): Promise<unknown> {
  const [, root, name = '', ...rest] = pathname.split('/');
  if (root !== 'api' || rest.length > 0 || !Object.hasOwn(ASKS, name))
    throw new Refusal(404, `The viewer has nothing at ${JSON.stringify(pathname.slice(0, 100))}.`);
  const question = name as keyof Asks;
  const given = jsonIn(searchParams.get('args') ?? '[]', '`args`');
  const flaw = Array.isArray(given) ? flawOfArguments(question, given) : 'is no list';
  if (flaw !== undefined) throw new Refusal(400, `\`args\` ${flaw}.`);
  return (from[question] as (...given: unknown[]) => Promise<unknown>)(...(given as unknown[]));
}
