// The requests that the viewer answers: GET and HEAD of its own pages, under its own name. A name that another site made
// point here (DNS rebinding) is refused, and so is every request that another site's page makes. With a token, each
// request needs it: other users of the machine reach the port too. Leaves out TLS: it serves loopback only.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { doubledHeader } from '../domain/text/doubled-header.ts';
import { DoubtfulJson, strictJson } from '../domain/text/json-text.ts';

/** A refusal with its status. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Guarded {
  readonly port: number;
  /** Null: none is asked for. */
  readonly token: string | null;
  /** The request may change something: steer.ts looks at the rest of it. */
  readonly posts?: boolean;
}

const COOKIE = 'everturn-view';

/** Throws a Refusal. Returns the cookie to set, where the request brought the token in its address. */
export function mustBeOurs(
  request: IncomingMessage,
  url: URL,
  { port, token, posts = false }: Guarded,
): string | undefined {
  const doubled = doubledHeader(request);
  if (doubled !== undefined) throw new Refusal(400, `The request gives the header ${doubled} twice.`);
  const { host = '', origin } = request.headers;
  const own = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!own.includes(host.toLowerCase())) {
    throw new Refusal(421, `This server is not ${JSON.stringify(host.slice(0, 100))}. Open http://127.0.0.1:${port}/.`);
  }
  const takes = posts ? ['POST'] : ['GET', 'HEAD'];
  if (!takes.includes(request.method ?? '')) {
    throw new Refusal(405, posts ? 'An act is a POST.' : 'The viewer only reads: it takes GET and HEAD.');
  }
  const site = request.headers['sec-fetch-site'];
  const foreign = origin !== undefined && !own.some((name) => origin === `http://${name}`);
  // A link from another page may open the viewer, and nothing behind it.
  const elsewhere = (site === 'cross-site' || site === 'same-site') && url.pathname !== '/';
  if (foreign || elsewhere) throw new Refusal(403, 'Another site may not read the viewer.');
  if (token === null) return undefined;
  const cookie = new RegExp(`(?:^|; )${COOKIE}-${port}=([\\w-]+)`).exec(request.headers.cookie ?? '')?.[1];
  if (cookie !== undefined && isSameText(cookie, token)) return undefined;
  const given = url.pathname === '/' ? url.searchParams.get('token') : null;
  if (given !== null && isSameText(given, token))
    return `${COOKIE}-${port}=${token}; HttpOnly; SameSite=Strict; Path=/`;
  throw new Refusal(401, 'Open the address that `everturn view` printed, with its token.');
}

/** Parses the text of a request; `what` names it. */
export function jsonIn(text: string, what: string): unknown {
  try {
    return strictJson(text);
  } catch (error) {
    throw new Refusal(400, `${what} ${error instanceof DoubtfulJson ? error.message : 'is not JSON'}.`);
  }
}

export function isSameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
