// The door `url`: a server that answers the same calls over HTTP, `POST <address>/respond` and so on. No redirect is
// followed, and a reply is read up to its limit only.

import { createHash } from 'node:crypto';
import { DEFAULT_TIMEOUT_SECONDS, type EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { Environment, EnvironmentCall } from '../environment.ts';
import { type Described, mismatch } from './command.ts';
import { lostByRepeat } from './held.ts';
import { reported } from './line-process.ts';
import { post } from './post.ts';
import { broken, parseBegun, parseHello, parseReply } from './reply.ts';
import { beginParams, endParams, episodeOf, respondParams, stateAfter } from './wire.ts';

const DESCRIBE_MS = 30_000;

export async function describeUrl(href: string): Promise<Described> {
  const { base, who } = serverOf(href);
  const signal = AbortSignal.timeout(DESCRIBE_MS);
  const value = await post(who, 'describe', `${base}/describe`, {}, { signal, timeoutMs: DESCRIBE_MS, key: null });
  const { fingerprint, agents = [], ...hello } = parseHello(who, resultOf(who, 'describe', value).result);
  if (hello.state === 'replay') {
    throw broken(
      who,
      'describe',
      'its state is "replay", which needs a process of its own',
      'Keep the state as a value, or serve it as a command.',
    );
  }
  const own = fingerprint ?? `${hello.name} ${hello.version} ${href}`;
  const claimed = fingerprint === undefined ? ({ claimed: true } as const) : {};
  return { record: { door: 'url', spec: [href], ...hello, fingerprint: hashOf(own), ...claimed }, agents };
}

function serverOf(href: string): { readonly base: string; readonly who: string } {
  return { base: href.replace(/\/$/, ''), who: new URL(href).host };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function urlEnvironment(record: EnvironmentRecord, words: readonly string[]): Environment {
  const { base, who } = serverOf(words[0]!);
  const { state: kind, begins, ends, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = record;
  const timeoutMs = timeoutSeconds * 1000;

  async function call(method: string, params: object, key: string, { signal }: EnvironmentCall): Promise<unknown> {
    const value = await post(who, method, `${base}/${method}`, params, { signal, timeoutMs, key });
    const { result, fingerprint } = resultOf(who, method, value);
    const found = fingerprint === undefined ? null : hashOf(fingerprint);
    if (!record.claimed && found !== record.fingerprint)
      throw mismatch(record, found === null ? 'a reply without a fingerprint' : who, found ?? '');
    return result;
  }

  return {
    ...(begins && {
      begin: async (rollout, options) =>
        parseBegun(who, kind, await call('begin', beginParams(rollout), episodeOf(rollout).key, options)),
    }),
    async respond(move, options) {
      if (kind === 'held' && record.idempotent !== true && options.mayBeSecond) throw lostByRepeat(record.name);
      const before = await move.before();
      const params = respondParams(move, before, kind);
      const result = await call('respond', params, `${params.episode.key}/${move.turn}`, options);
      return parseReply(who, kind, result, kind === 'value' ? stateAfter(move.rollout, before) : undefined);
    },
    ...(ends && {
      end: async ({ rollout, before }, options) => {
        const params = endParams(rollout, await before(), kind);
        await call('end', params, `${params.episode.key}/end`, options);
      },
    }),
  };
}

/** `{"result": …, "fingerprint"}`, or `{"error": …}`. */
function resultOf(who: string, method: string, value: unknown) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw broken(who, method, 'the reply is not an object');
  const { result, error, fingerprint } = value as Record<string, unknown>;
  if (error !== undefined && error !== null) throw reported(who, method, error);
  if (!('result' in value)) throw broken(who, method, 'the reply has neither `result` nor `error`');
  if (fingerprint !== undefined && typeof fingerprint !== 'string')
    throw broken(who, method, 'its `fingerprint` is no text');
  return { result, fingerprint };
}
