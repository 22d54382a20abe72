// One POST of JSON to a user's own server. No forbidden address is asked, no redirect is followed, a reply is read up to its limit only, and each failure
// has a name: late, unreachable, refused, too large, no JSON.

import type { Response } from 'undici';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { MAX_REPLY_BYTES } from '../../domain/rollout/environment.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { FORBIDDEN, forbiddenIn, guardedFetch } from '../../local/machine/forbidden-address.ts';
import { parseLine, tooLarge } from '../processes/envelope.ts';

export interface PostOptions {
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
