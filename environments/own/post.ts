// One POST of JSON to a user's own server. No forbidden address is asked, no redirect is followed, a reply is read up to its limit only, and each failure
// has a name: late, unreachable, refused, too large, no JSON.

import type { Response } from 'undici';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { MAX_REPLY_BYTES } from '../../domain/rollout/environment.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { holdsSecret } from '../../domain/text/secret.ts';
import type { Reason } from '../../domain/errors/reasons.ts';
import { FORBIDDEN, forbiddenIn } from '../../local/machine/forbidden-address.ts';
import { guardedFetch } from '../../local/machine/guarded-fetch.ts';
import { parseJson, tooLarge } from '../processes/envelope.ts';

export interface PostOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly key?: string | null;
  readonly bearer?: string | null;
  /** Of a server that is away, and of one that refuses. */
  readonly reasons?: { readonly away: Reason<'environment'>; readonly refused: Reason<'environment'> };
}

const UNCONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

const REASONS = { away: 'environment-unreachable', refused: 'environment-error' } as const;

export async function post(
  who: string,
  method: string,
  url: string,
  body: object,
  { signal, timeoutMs, key = null, bearer = null, reasons = REASONS }: PostOptions,
): Promise<unknown> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await guardedFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { 'idempotency-key': key }),
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, late]),
      redirect: 'manual',
    });
    const bytes = await bodyOf(who, response);
    if (response.ok && bearer !== null && holdsSecret(bytes.toString('utf8'), bearer)) throw keyReply(who);
    if (response.ok) return parseJson(who, bytes);
    throw refused({ who, method, reasons, bearer }, response, bytes);
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    if (signal.aborted && !late.aborted) throw signal.reason;
    if (late.aborted) {
      throw new EnvironmentError(`The environment ${who} did not answer \`${method}\` in ${timeoutMs / 1000} s.`, {
        reason: reasons === REASONS ? 'environment-timeout' : reasons.away,
        retryable: true,
      });
    }
    if (forbiddenIn(error)) throw forbidden(who, error);
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new EnvironmentError(`The environment ${who} cannot be reached`, {
      reason: reasons.away,
      fix: 'Is its server up, and is its address right?',
      retryable: true,
      untaken: UNCONNECTED.test((cause as NodeJS.ErrnoException | undefined)?.code ?? ''),
      cause,
    });
  }
}

/** Replies are stored and shown: one that contains the key would spread it. */
function keyReply(who: string): EnvironmentError {
  return new EnvironmentError(`The environment ${who} repeated its key in a reply.`, {
    reason: 'environment-broken',
    fix: 'Change the key, and ask its operator why the replies contain it.',
  });
}

export function forbidden(who: string, cause: unknown): EnvironmentError {
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

type Asked = Required<Pick<PostOptions, 'reasons' | 'bearer'>> & { readonly who: string; readonly method: string };

function refused(
  { who, method, reasons, bearer }: Asked,
  { status, headers }: Response,
  bytes: Buffer,
): EnvironmentError {
  const passes = status === 408 || status === 429 || status >= 500;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  // A server may repeat the key that it was sent.
  const said = short(bytes.toString('utf8'), 200, bearer);
  return new EnvironmentError(`The environment ${who} answered \`${method}\` with status ${status}: ${said}`, {
    reason: passes ? reasons.away : reasons.refused,
    retryable: passes,
    // Asked to come later: nothing was done.
    untaken: status === 429 || status === 503,
    ...(seconds > 0 && seconds < 3600 ? { retryAfterMs: seconds * 1000 } : {}),
  });
}
