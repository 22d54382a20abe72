// What the backends of inference servers share: who asks one server, and how its answer becomes a result. An
// answer that breaks the contract (ids outside, a logprob too few, spans that do not cover) is never passed on.

import { createHash, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { short } from '../../domain/foreign-text.ts';

import { ModelError } from '../../domain/errors.ts';
import type { ModelIdentity } from '../../domain/model-identity.ts';
import type { Finish } from '../../domain/turn.ts';
import type { BackendOf, GenerateRequest, Kind, Reply, TokenFacts, Tokenizer } from '../backend.ts';
import type { Connections } from '../http/connections.ts';
import type { Ask, Http } from '../http/http.ts';
import type { TokenizerLoader } from '../tokenizer/server-tokenizer.ts';
import { at, badReply, type Place } from '../http/http-errors.ts';
import { impossible, usableLogprobs, type Claimed } from '../possible.ts';

/** A backend that asks exactly one server; what a fleet is made of. */
export type ServerBackend<K extends Kind = 'tokens'> = BackendOf<K> & Reachable;

interface Reachable {
  readonly url: string;
  /** Those to its server, and who that is now; absent where it cannot be known again. */
  readonly connections?: Connections;
  readonly identify?: () => Promise<ModelIdentity>;
}

export interface ServerOptions {
  readonly url: string;
  readonly apiKey: string | null;
  readonly requestTimeoutMs?: number | undefined;
  readonly tokenizers: TokenizerLoader;
  readonly log: (line: string) => void;
}

/** How long a server may take to forget a request that nobody waits for. */
export const ABORT_TIMEOUTS = { connectMs: 2000, firstByteMs: 2000, betweenBytesMs: 2000, totalMs: 3000 };

/** The rollout's part of a request id: everything before the turn. */
export function rolloutKey(requestId: string): string {
  const slash = requestId.lastIndexOf('/');
  return slash < 0 ? requestId : requestId.slice(0, slash);
}

/** A name for this one call, which a server's log shows: a retry must not meet the call that it replaces. */
export function callId(requestId: string): string {
  return `${requestId.replace(/[^\w.-]+/g, '_').slice(-80)}-${randomUUID().slice(0, 8)}`;
}

/** A reply as a server sent it, before it is checked. */
export interface ServerReply extends Claimed {
  /** At which id it ended, as the server says; null if it does not. */
  readonly endedAt?: number | null;
}

/** What a model's files say of its stop tokens: `stops.ts`. */
export interface ReplyRules extends Pick<TokenFacts, 'vocabSize'> {
  readonly ends: (id: number, told: number | null) => boolean;
}

/** The reply, or a ModelError that says why it is not one. */
export function asReply(answer: ServerReply, request: GenerateRequest, rules: ReplyRules, place: Place): Reply {
  const { outputIds, finish, versions, endedAt = null } = answer;
  if (outputIds.length === 0) throw nothingSaid(finish, place);
  const { vocabSize } = rules;
  const wrong = impossible(answer, request, { vocabSize, ends: (id) => rules.ends(id, endedAt) });
  if (wrong?.reason === 'token-out-of-vocabulary') {
    throw new ModelError(`${at(place)} ${wrong.what}`, {
      ...wrong,
      fix: 'Name the tokenizer and config.json of the model that is served: --tokenizer <folder or hub id>.',
    });
  }
  if (wrong) throw badReply(wrong.what, place, wrong);
  return { outputIds, logprobs: usableLogprobs(answer.logprobs), finish, versions: versions!, server: place.url };
}

function nothingSaid(finish: Finish, place: Place): ModelError {
  if (finish === 'length') {
    // Every request asks for one token at least: the budget was cut to nothing, in silence.
    return new ModelError(`${at(place)} had no room for a single token`, { reason: 'context-length' });
  }
  if (finish !== 'abort') return badReply(`gave no token (${finish})`, place, { flaw: 'no token' });
  return new ModelError(`${at(place)} aborted the request before its first token`, {
    reason: 'server-aborted',
    retryable: true,
  });
}

/**
 * A server's random stream begins anew with each request. The later chunk of an answer, sent with the same seed,
 * would be drawn by the same random numbers as the first: its tokens would not be independent of them.
 */
export function streamSeed({
  seed,
  prefer,
  contextIds,
}: Pick<GenerateRequest, 'seed' | 'prefer' | 'contextIds'>): number {
  if (!prefer) return seed;
  const hash = createHash('sha256').update(`${seed}/${contextIds.length}`).digest('hex');
  return Number.parseInt(hash.slice(0, 13), 16);
}

/** Routers in front of servers send one rollout's requests to one server by these. */
export function routingHeaders(requestId: string): Record<string, string> {
  const key = createHash('sha256').update(rolloutKey(requestId)).digest('hex').slice(0, 32);
  return { 'x-smg-routing-key': key, 'x-session-id': key };
}

/** Asks under one name after the other: servers rename their endpoints. */
export async function getFirst(http: Http, paths: readonly string[], ask: Ask): Promise<unknown> {
  for (const [i, path] of paths.entries()) {
    try {
      return await http.get(path, ask);
    } catch (error) {
      const gone = error instanceof ModelError && error.reason === 'server-lacks';
      if (!gone || i === paths.length - 1) throw error;
    }
  }
  throw new TypeError('no path to ask');
}

/** The part of an answer that is read, or a ModelError that names what is wrong with it. */
export function parseReply<T>(schema: z.ZodType<T>, reply: unknown, place: Place): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  if (reply === null) throw badReply('sent an empty answer', place, { flaw: 'an empty answer' });
  const words = complaintIn(reply);
  if (words !== null) {
    const what = `said that all is well, and sent an error: ${short(words, 500, place.secret)}`;
    throw badReply(what, place, { flaw: 'an error with status 200' });
  }
  const { path, message } = parsed.error.issues[0]!;
  const where = path.join('.');
  const missing = where !== '' && valueAt(reply, path) === undefined;
  const flaw = missing ? `${where} missing` : `${where || 'the answer'}: ${message}`;
  throw badReply(`sent an answer that is of no use (${flaw})`, place, { flaw });
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

/** Only where it stands in place of an answer. */
function complaintIn(reply: unknown): string | null {
  const { error, message, object } = (typeof reply === 'object' ? reply : {}) as Record<string, unknown>;
  if (error === undefined && object !== 'error') return null;
  const inner = typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['message'] : error;
  return String(inner ?? message ?? 'no words');
}

/** One token of a context that no model is sure about. */
export const CANARY = { maxNewTokens: 1, seed: 1, stopTokenIds: [] } as const;
/** A server's first answer can take most of a minute. */
export const CANARY_TIMEOUTS = { firstByteMs: 120_000, totalMs: 120_000 };

export async function canaryContext(tokenizer: Tokenizer): Promise<number[]> {
  const ids = await tokenizer.encode('The');
  return ids.length > 0 ? ids : [0];
}

export function wordOf(version: string | number | null | undefined): string | null {
  return version === null || version === undefined ? null : String(version);
}

export function sameIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** Which tokens are whose cannot be told: the answer is worth nothing, another one will be had. */
export function versionMoved(place: Place): ModelError {
  return new ModelError(`The weights of ${place.url} changed during this answer, and it does not tell where`, {
    reason: 'version-moved',
    retryable: true,
  });
}
