// Shared by the backends of inference servers: the interface of one server, and the check of its answers. An answer that
// breaks the contract (an id outside the vocabulary, a missing logprob, spans with gaps) is never passed on.

import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { short } from '../../domain/text/foreign-text.ts';

import { ModelError } from '../../domain/errors/errors.ts';
import { boundedSet } from '../../domain/rollout/kept-sets.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { NamedAdapter } from '../../domain/weights/adapter.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { BackendOf, GenerateRequest, Kind, Reply, TokenFacts, Tokenizer } from '../backend.ts';
import type { Given } from './recheck.ts';
import type { RequestOptions, Http } from '../http/http.ts';
import type { TokenizerLoader } from '../tokenizer/server-tokenizer.ts';
import { shownAddress, badReply, complaintError, type RequestPlace } from '../http/http-errors.ts';
import { complaintIn } from '../http/server-words.ts';
import {
  type Claimed,
  findImpossible,
  flawOfCounts,
  type Impossible,
  type ReportedCounts,
  usableLogprobs,
} from '../possible.ts';

/** A backend of exactly one server; a fleet consists of these. */
export type ServerBackend<K extends Kind = 'tokens'> = BackendOf<K> & Reachable;

interface Reachable {
  readonly url: string;
  /** Its identity now; absent if it cannot be identified. */
  readonly identify?: () => Promise<ModelIdentity>;
  /** Logprobs of the ids from place `from` on, under the model's own distribution; null if the server gives none. */
  readonly given?: (ids: readonly number[], from: number, adapter?: NamedAdapter) => Promise<Given | null>;
  /** The names of its model and of the adapters that it has. */
  readonly names?: () => Promise<readonly string[]>;
}

export interface ServerOptions {
  readonly url: string;
  readonly apiKey: string | null;
  readonly requestTimeoutMs?: number | undefined;
  readonly tokenizers: TokenizerLoader;
  readonly log: (line: string) => void;
}

/** Time limits of the request that aborts another. */
export const ABORT_TIMEOUTS = { connectMs: 2000, firstByteMs: 2000, betweenBytesMs: 2000, totalMs: 3000 };

/** The rollout's part of a request id: everything before the turn. */
export function rolloutKey(requestId: string): string {
  const slash = requestId.lastIndexOf('/');
  return slash < 0 ? requestId : requestId.slice(0, slash);
}

/** A unique name for one call, for the server's log and aborts: a retry must not collide with the call it replaces. */
export function callId(requestId: string): string {
  return `${requestId.replace(/[^\w.-]+/g, '_').slice(-80)}-${randomUUID().slice(0, 8)}`;
}

/** The prefixes that vLLM gives a request's id in a reply; SGLang repeats the id. */
const PREFIXES = ['', 'cmpl-', 'generate-tokens-'];

/** An answer is only taken for the request that it names. `said`: null if the reply names none. */
export function mustName(id: string, said: string | null | undefined, place: RequestPlace): void {
  if (said == null || PREFIXES.some((prefix) => said === prefix + id)) return;
  const what = `gave the answer to the request ${short(JSON.stringify(said), 120)}, and ${id} was asked`;
  throw badReply(what, place, { flaw: 'the answer to another request' });
}

/** A reply as received, before it is checked. */
export interface ServerReply extends Claimed {
  /** The id at which the answer ended, as reported by the server; null if not reported. */
  readonly endedAt?: number | null;
  /** Numbers of tokens by the server's own count. */
  readonly counts?: ReportedCounts | undefined;
}

/** The vocabulary and stop tokens, from the model's files. */
interface ReplyRules extends Pick<TokenFacts, 'vocabSize'> {
  readonly ends: (id: number, reported: number | null) => boolean;
}

/** The reply, or a ModelError with the first fault. */
export function asReply(answer: ServerReply, request: GenerateRequest, rules: ReplyRules, place: RequestPlace): Reply {
  const { outputIds, finish, versions, endedAt = null, keptLogprobs: over } = answer;
  const kept = answer.kept?.map(boundedSet);
  if (outputIds.length === 0 && finish !== 'stop') throw noTokens(finish, place);
  const { vocabSize } = rules;
  const wrong =
    findImpossible({ ...answer, ...(kept && { kept }) }, request, {
      vocabSize,
      server: place.url,
      ends: (id) => rules.ends(id, endedAt),
    }) ??
    flawOfEndedAt(answer) ??
    flawOfCounts(answer.counts ?? {}, { sent: request.contextIds.length, received: outputIds.length });
  if (wrong?.reason === 'token-out-of-vocabulary') {
    throw new ModelError(`${shownAddress(place)} ${wrong.what}`, {
      ...wrong,
      fix: 'Name the tokenizer and config.json of the model that is served: --tokenizer <folder or hub id>.',
    });
  }
  if (wrong) throw badReply(wrong.what, place, wrong);
  const logprobs = usableLogprobs(answer.logprobs);
  const sets = { ...(kept && { kept }), ...(over && { keptLogprobs: usableLogprobs(over) }) };
  return { outputIds, logprobs, ...sets, finish, versions: versions!, server: place.url };
}

/** The server's own name for the token that ended the answer is the answer's last token. */
function flawOfEndedAt({ outputIds, endedAt = null }: ServerReply): Impossible | null {
  const last = outputIds.at(-1);
  if (endedAt === null || last === undefined || endedAt === last) return null;
  const what = `said that it stopped at the token ${endedAt}; its last token is ${last}`;
  return { reason: 'reply-malformed', flaw: 'a stop at another token than the last', what };
}

function noTokens(finish: Finish, place: RequestPlace): ModelError {
  if (finish === 'length') {
    // Every request asks for at least one token: the server silently cut the budget to 0.
    return new ModelError(`${shownAddress(place)} had no room for a single token`, { reason: 'context-length' });
  }
  return new ModelError(`${shownAddress(place)} aborted the request before its first token`, {
    reason: 'server-aborted',
    retryable: true,
    flaw: 'an answer aborted before its first token',
  });
}

/**
 * A server restarts its random stream with each request. A later chunk of an answer, sent with the same seed, would be
 * sampled with the same random numbers as the first chunk, and would not be independent of it.
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

/** Routers in front of servers use these to send one rollout's requests to one server. */
export function routingHeaders(requestId: string): Record<string, string> {
  const key = createHash('sha256').update(rolloutKey(requestId)).digest('hex').slice(0, 32);
  return { 'x-smg-routing-key': key, 'x-session-id': key };
}

/** Tries the paths in order: servers rename their endpoints. */
export async function getFirst(http: Http, paths: readonly string[], ask: RequestOptions): Promise<unknown> {
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

/** The part of an answer that is read, or a ModelError that names the fault. */
export function parseServerReply<T>(schema: z.ZodType<T>, reply: unknown, place: RequestPlace): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  if (reply === null) throw badReply('sent an empty answer', place, { flaw: 'an empty answer' });
  const { path, message } = parsed.error.issues[0]!;
  const where = path.join('.');
  if (where === 'choices' && typeof reply === 'object') mustHoldChoices(reply, place);
  const missing = where !== '' && valueAt(reply, path) === undefined;
  const flaw = missing ? `${where} missing` : `${where || 'the answer'}: ${message}`;
  throw badReply(`sent an answer that is of no use (${flaw})`, place, { flaw });
}

/** Choices that are absent, null or none are how a gateway passes on that the server behind it failed. */
function mustHoldChoices(reply: unknown, place: RequestPlace): void {
  const { choices } = reply as { readonly choices?: unknown };
  if (choices != null && !(Array.isArray(choices) && choices.length === 0)) return;
  const said = complaintIn(reply);
  throw complaintError(200, {}, { ...said, words: `no choices: ${said.words}` }, place);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

const Served = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/** The name of a server's model, and of the adapters that it has. */
export async function servedNames(http: Http): Promise<[string, ...string[]]> {
  const { data } = parseServerReply(Served, await http.get('/v1/models'), http.place('/v1/models'));
  return data.map(({ id }) => id) as [string, ...string[]];
}

/** A request named an adapter that is not there: in the words of vLLM, 404, and of SGLang. */
export const lacksAdapter = (error: unknown): boolean =>
  error instanceof ModelError &&
  (error.reason === 'model-not-found' || /adapter that has never been loaded|LoRA is not enabled/i.test(error.message));

/** One token after a context with many plausible continuations. */
export const CANARY = { maxNewTokens: 1, seed: 1, stopTokenIds: [] } as const;
/** The limits of a call that a server answers when it gets to it: its first answer can take most of a minute. */
export const SLOW_TIMEOUTS = { firstByteMs: 120_000, totalMs: 120_000 };

export async function canaryContext(tokenizer: Tokenizer): Promise<number[]> {
  const ids = await tokenizer.encode('The');
  return ids.length > 0 ? ids : [0];
}

export function sameIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** A router that asks another model, or a server that was restarted as another. `before`: the name in its first reply. */
export function otherName(said: string, asked: string, place: RequestPlace, before = asked): ModelError {
  const [reply, wanted, first] = [said, asked, before].map((name) => short(JSON.stringify(name), 100));
  const more = before === asked ? '' : `; its first reply named ${first}`;
  return badReply(`gave a reply of the model ${reply}, and ${wanted} was asked${more}`, place, {
    flaw: 'a reply of another model',
  });
}
