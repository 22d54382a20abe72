// One HTTP request as the feed reads it: a token, a path, and a JSON object of bounded size. A request that
// is not well formed is refused with a status, before anything is asked of Temporal.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { doubledHeader } from '../../domain/text/doubled-header.ts';
import { EverturnError, explain, TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';
import { argumentProblem, type Verb, VERBS } from '../../domain/feed/messages.ts';
import type { Reason } from '../../domain/errors/reasons.ts';

const MAX_FEED_BODY_BYTES = 64 * 1024;

export const newToken = (): string => randomBytes(24).toString('base64url');

/** Any port may follow: it may be forwarded. */
const LOOPBACK_NAMES = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export const isLoopback = (host: string): boolean => LOOPBACK_NAMES.test(host.includes(':') ? `[${host}]` : host);

const refused = (reason: Reason<'usage'>, message: string, fix: string) => new UsageError(message, { reason, fix });

/** `token`: null if none is asked for. `loopback`: the server listens there alone, so nobody calls it by another name. */
export function mustBeAllowed(request: IncomingMessage, token: string | null, loopback: boolean): void {
  const { headers } = request;
  const doubled = doubledHeader(request);
  if (doubled !== undefined)
    throw refused('bad-value', `The request gives the header ${doubled} twice.`, 'Give it once.');
  if (loopback && !LOOPBACK_NAMES.test(headers.host ?? ''))
    throw refused('not-allowed', 'The request names another host.', 'Call the feed by the address that it printed.');
  if (headers.origin !== undefined)
    throw refused('not-allowed', 'A web page may not use the feed.', 'Call it from a program.');
  if (token === null) return;
  const given = /^Bearer (.{1,500})$/.exec(headers.authorization ?? '')?.[1] ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (timingSafeEqual(digest(given), digest(token))) return;
  throw refused(
    'no-token',
    'The request has no token of this feed.',
    'Send `Authorization: Bearer <token>`, with the token of the file that names this address (docs/feed.md).',
  );
}

/** The path without its query. */
export const pathOf = ({ url }: IncomingMessage): string => (url ?? '').split('?', 1)[0]!.replace(/^\//, '');

/** `experts/<2 hex>/<sha256>-<bytes>.gz`: a file that a row names. */
const EXPERTS_PATH = /^experts\/[0-9a-f]{2}\/[0-9a-f]{64}-\d{1,15}\.gz$/;

/** `path`: a request's, or what is left of it behind the name of a run. */
export function verbOf(path: string, method = ''): Verb | 'status' | 'experts' {
  if (path === 'status' && (method === 'GET' || method === 'HEAD')) return 'status';
  if (EXPERTS_PATH.test(path) && method === 'GET') return 'experts';
  const verb = VERBS.find((known) => known === path);
  if (verb === undefined) {
    const fix = `It has POST ${VERBS.map((known) => `/${known}`).join(', ')} and GET /status.`;
    throw refused('no-such-path', `The feed has no ${method} /${path.slice(0, 40)}.`, fix);
  }
  if (method === 'POST') return verb;
  throw refused('not-post', `/${verb} takes POST.`, 'Send a JSON object.');
}

/** The longest that a request for a lease may wait: it is asked for in parts. */
const MAX_WAIT_SECONDS = 3600;

/** The arguments of a verb; `wait` may be longer than one Update waits. */
export async function readVerbArguments(verb: Verb, request: IncomingMessage): Promise<Record<string, unknown>> {
  let given: unknown;
  const text = await bodyOf(request);
  try {
    given = strictJson(text === '' ? '{}' : text);
  } catch (error) {
    const problem = error instanceof DoubtfulJson ? error.message : 'is not JSON';
    throw refused('bad-value', `The body ${problem}.`, `/${verb} takes one JSON object.`);
  }
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const wait = isObject ? (given as { wait?: unknown }).wait : undefined;
  const long = verb === 'lease' && typeof wait === 'number' && wait > 0 && wait <= MAX_WAIT_SECONDS;
  const problem = argumentProblem(verb, long ? { ...(given as object), wait: 0 } : given);
  if (problem !== undefined) throw refused('bad-value', `${problem}.`, 'docs/feed.md has the arguments.');
  return given as Record<string, unknown>;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const tooLarge = () =>
    refused('too-large', `The body has more than ${MAX_FEED_BODY_BYTES} bytes.`, 'Send the arguments only.');
  if (Number(request.headers['content-length'] ?? 0) > MAX_FEED_BODY_BYTES) throw tooLarge();
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_FEED_BODY_BYTES) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The status of a refusal; every other one is a conflict with the state. */
const STATUS: Readonly<Record<string, number>> = {
  'bad-value': 400,
  'no-token': 401,
  'not-allowed': 403,
  'no-such-lease': 404,
  'no-such-path': 404,
  'no-such-run': 404,
  'not-post': 405,
  'too-large': 413,
};

export function sendRefusal(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    // A batch that ends early has fewer rows than its first line says.
    response.destroy();
    return;
  }
  const refusal = error instanceof UsageError;
  const status = refusal ? (STATUS[error.reason] ?? 409) : error instanceof TemporalError ? 503 : 500;
  const reason = error instanceof EverturnError ? error.reason : 'error';
  const fix = refusal ? (error.fix ?? 'docs/feed.md has the rules.') : 'Ask again: repeating a request is harmless.';
  // The rest of a large body is not read.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(`${JSON.stringify({ error: refusal ? error.message : explain(error), reason, fix })}\n`);
}
