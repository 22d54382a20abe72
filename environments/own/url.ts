// The door `url`: a server that answers the same calls over HTTP, `POST <address>/respond` and so on. No redirect is
// followed, and a reply is read up to its limit only.

import type { Response } from 'undici';
import { type EnvironmentRecord, MAX_REPLY_BYTES } from '../../domain/rollout/environment.ts';
import type { Environment } from '../environment.ts';
import { statelessEnvironment } from './calls.ts';
import type { Described } from './command.ts';
import { replyIn, reportedError, parseLine, tooLarge } from '../processes/envelope.ts';
import { lostByRepeat } from './held.ts';
import { describedServer, mustBeServed } from './server.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { FORBIDDEN, forbiddenIn, guardedFetch } from '../../local/machine/forbidden-address.ts';

const DESCRIBE_MS = 30_000;

export async function describeUrl(href: string): Promise<Described> {
  const signal = AbortSignal.timeout(DESCRIBE_MS);
  const { result } = await posted(href, 'describe', {}, { signal, timeoutMs: DESCRIBE_MS });
  return describedServer({ door: 'url', place: href, who: whoOf(href), states: ['none', 'value', 'held'] }, result);
}

export function urlEnvironment(record: EnvironmentRecord, [href = '']: readonly string[]): Environment {
  const timeoutMs = record.timeoutSeconds * 1000;
  return statelessEnvironment(record, async (method, params, { key, signal, mayBeSecond }) => {
    const repeats = record.state !== 'held' || record.idempotent === true;
    if (method === 'respond' && mayBeSecond && !repeats) throw lostByRepeat(record.name);
    const { result, fingerprint } = await posted(href, method, params, { signal, timeoutMs, key });
    mustBeServed(record, whoOf(href), fingerprint);
    return result;
  });
}

/** `{"result": …, "fingerprint"}`, or `{"error": …}`. */
async function posted(href: string, method: string, params: object, options: PostOptions) {
  const who = whoOf(href);
  const value = await post(who, method, `${href.replace(/\/$/, '')}/${method}`, params, options);
  const { result, error, fingerprint } = replyIn(who, method, value);
  if (error !== undefined) throw reportedError(who, method, error);
  return { result, fingerprint };
}

const whoOf = (href: string): string => new URL(href).host;

interface PostOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly key?: string | null;
}

const UNCONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

export async function post(
  who: string,
  method: string,
  url: string,
  body: object,
  { signal, timeoutMs, key = null }: PostOptions,
): Promise<unknown> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await guardedFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, late]),
      redirect: 'manual',
    });
    const bytes = await bodyOf(who, response);
    if (response.ok) return parseLine(who, bytes);
    throw refused(who, method, response, bytes);
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    if (signal.aborted && !late.aborted) throw signal.reason;
    if (late.aborted) {
      throw new EnvironmentError(`The environment ${who} did not answer \`${method}\` in ${timeoutMs / 1000} s.`, {
        reason: 'environment-timeout',
        retryable: true,
      });
    }
    if (forbiddenIn(error)) throw forbiddenError(who, error);
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new EnvironmentError(`The environment ${who} cannot be reached`, {
      reason: 'environment-unreachable',
      fix: 'Is its server up, and is its address right?',
      retryable: true,
      untaken: UNCONNECTED.test((cause as NodeJS.ErrnoException | undefined)?.code ?? ''),
      cause,
    });
  }
}

export function forbiddenError(who: string, cause: unknown): EnvironmentError {
  return new EnvironmentError(`The environment ${who} ${FORBIDDEN}.`, { reason: 'environment-unreachable', cause });
}

async function bodyOf(who: string, response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part as Uint8Array);
    bytes += (part as Uint8Array).length;
    if (bytes > MAX_REPLY_BYTES) throw tooLarge(who);
  }
  return Buffer.concat(parts);
}

function refused(who: string, method: string, { status, headers }: Response, bytes: Buffer): EnvironmentError {
  const passes = status === 408 || status === 429 || status >= 500;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const said = short(bytes.toString('utf8'), 200);
  return new EnvironmentError(`The environment ${who} answered \`${method}\` with status ${status}: ${said}`, {
    reason: passes ? 'environment-unreachable' : 'environment-error',
    retryable: passes,
    // Asked to come later: nothing was done.
    untaken: status === 429 || status === 503,
    ...(seconds > 0 && seconds < 3600 ? { retryAfterMs: seconds * 1000 } : {}),
  });
}
