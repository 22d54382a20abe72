// The door `url`: a server that answers the same calls over HTTP, `POST <address>/respond` and so on. No redirect is
// followed, and a reply is read up to its limit only.

import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { Environment } from '../environment.ts';
import { statelessEnvironment } from './calls.ts';
import type { Described } from './command.ts';
import { replyIn, reportedError } from '../processes/envelope.ts';
import { lostByRepeat } from './held.ts';
import { post, type PostOptions } from './post.ts';
import { describedServer, mustBeServed } from './server.ts';

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
