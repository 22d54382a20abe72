// The endpoint of one attempt of an agent: it speaks every dialect by HTTP, and gives a call its reply only when it is recorded.
// A call of an earlier attempt is answered from its record; a call that repeats one whose connection broke waits for the same
// reply. The reply itself comes from the owner of the endpoint, which also decides how often a model is tried.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  abandonedCalls,
  type RetryHint,
  claimCall,
  type Claim,
  claimsOfAttempt,
  withReplyDoubted,
  withConnectionEnded,
  unclaimedCalls,
} from '../domain/agent/claims.ts';
import { type AgentRequest, type AskedRequest, messageForms, requestText } from '../domain/agent/conversation.ts';
import { type Cut, CUTS } from '../domain/agent/program.ts';
import type { AgentReply } from '../domain/agent/reply.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { AnswerCall, CountTokens, RecordedReply, RefusedCall } from './agents.ts';
import { RefusedRequest, withTexts, type Dialect, type RecordedCalls } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/index.ts';
import { bodyOf } from './body.ts';
import { failure, hasKey, send } from './http.ts';

export interface EndpointOptions {
  /** The secret of this attempt. */
  readonly key: string;
  readonly model: string;
  /** In the order in which they began. */
  readonly recorded: readonly RecordedReply[];
  readonly answer: AnswerCall;
  readonly count: CountTokens;
  /** Calls of this attempt. */
  readonly maxCalls: number;
  /** Tokens that the model's context holds. Absent: not known. */
  readonly contextLength?: number | undefined;
  /** A call was refused by one of the two. */
  readonly onCut: (cut: Cut) => void;
  /** Takes what was posted to `/v1/reward`; returns what is wrong with it. */
  readonly onReward: (posted: unknown) => string | undefined;
  /** Silence before a sign of life, for clients that give up without one. */
  readonly keepAliveMs?: number;
}

export interface AgentEndpoint {
  /** `path`: of the request, without what is before `/v1`. */
  answer(message: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
  /** Resolves when every call that was begun has its reply. */
  settled(): Promise<void>;
  /** Ids of recorded calls whose reply this attempt has not been given: not made again, or left before it came. */
  abandoned(): readonly string[];
  /** Ids of calls of an earlier attempt that this one has not made. */
  unmade(): readonly string[];
  /** The call whose reply was given last; null if there is none. */
  last(): string | null;
  /** Breaks the connections of its calls. */
  close(): void;
}

const KEEP_ALIVE_MS = 10_000;

export function createEndpoint(options: EndpointOptions): AgentEndpoint {
  const { key, model, recorded, contextLength, keepAliveMs = KEEP_ALIVE_MS } = options;
  const byCall = new Map(recorded.map((one) => [one.reply.call, one]));
  const pending = new Map<string, Promise<AgentReply | RefusedCall>>();
  let last: string | null = null;
  /** The connection that asked last for a call: the end of an earlier one says nothing. */
  const holders = new Map<string, ServerResponse>();
  /** The call whose reply a connection carried last, with no request behind it. */
  const carried = new Map<Socket, string>();
  const watched = new WeakSet<Socket>();
  let claims = claimsOfAttempt(
    recorded.map(({ hash, request, reply, occurrence, dialect }) => ({
      id: reply.call,
      hash,
      occurrence,
      request,
      reply: messageIn(dialect, reply),
    })),
  );

  /** All that a server can know: the kernel took the last byte, and later the other side reset the connection. */
  function carries(socket: Socket, id: string): void {
    // Over another connection it was sent again.
    for (const [other, call] of carried) if (call === id) carried.delete(other);
    carried.set(socket, id);
    if (watched.has(socket)) return;
    watched.add(socket);
    socket.once('close', (isReset: boolean) => {
      const sent = carried.get(socket);
      carried.delete(socket);
      if (isReset && sent !== undefined) claims = withReplyDoubted(claims, sent);
    });
  }

  async function replyTo(taken: Claim, request: AgentRequest, { path }: Dialect): Promise<AgentReply> {
    const { id, hash, occurrence } = taken.call;
    const known = byCall.get(id);
    if (known) return known.reply;
    const begun = pending.get(id) ?? options.answer(taken, request, path);
    pending.set(id, begun);
    try {
      const reply = await begun;
      if ('refused' in reply) throw new RefusedRequest(reply.refused, '', reply.message);
      byCall.set(id, { hash, occurrence, request, dialect: path, reply });
      return reply;
    } finally {
      pending.delete(id);
    }
  }

  const recordedCall: RecordedCalls = (id) => {
    const one = byCall.get(id);
    return one && { request: one.request, reply: messageIn(one.dialect, one.reply) };
  };

  const cut = (error: unknown): never => {
    if (error instanceof RefusedRequest && isCut(error.reason)) options.onCut(error.reason);
    throw error;
  };

  const read = (dialect: Dialect, body: unknown) => withTexts(dialect.read(body, recordedCall), recordedCall);

  async function count(dialect: Dialect, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const tokens = await options.count(read(dialect, await bodyOf(message, { contextLength, dialect: dialect.path })));
    if (tokens === null) return send(response, 404, failure('this model does not show its tokens', 'tokens'));
    if (typeof tokens !== 'number') throw new RefusedRequest(tokens.refused, '', tokens.message);
    send(response, 200, dialect.count!.reply(tokens));
  }

  async function call(dialect: Dialect, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await bodyOf(message, { contextLength, dialect: dialect.path }).catch(cut)) as JsonObject;
    const request = read(dialect, body);
    const hash = await hashBetween(request);
    const next = claimCall(claims, request, againIn(message.headers), (one) => (one === request ? hash : hashOf(one)));
    claims = next.claims;
    const taken = next.claim;
    const { id } = taken.call;
    const made = claims.calls.filter(({ delivery }) => delivery !== 'unclaimed').length;
    const isTooMany = made > options.maxCalls;
    let isWhole = false;
    holders.set(id, response);
    response.on('close', () => {
      if (holders.get(id) !== response) return;
      holders.delete(id);
      const one = byCall.get(id);
      const isDelivered = isWhole && response.writableFinished;
      if (isDelivered) {
        last = id;
        carries(message.socket, id);
      }
      claims = withConnectionEnded(claims, id, isDelivered, one && messageIn(one.dialect, one.reply));
    });
    response.setHeader('x-everturn-call', id);
    if (taken.is !== 'new') response.setHeader('x-everturn-replayed', '1');
    const type = request.stream ? 'text/event-stream; charset=utf-8' : 'application/json';
    // Blanks before JSON, comments between events: clients take both for life, and neither for content.
    const alive = setInterval(() => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
      response.write(request.stream ? ': keep-alive\n\n' : ' ');
    }, keepAliveMs);
    try {
      if (isTooMany && taken.is !== 'rerun' && !byCall.has(id)) cut(tooMany(made, options));
      const reply = await replyTo(taken, request, dialect);
      if (response.destroyed) return;
      if (!response.headersSent) response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
      isWhole = true;
      response.end(request.stream ? streamText(dialect, reply, body) : JSON.stringify(dialect.whole(reply, body)));
    } finally {
      clearInterval(alive);
    }
  }

  async function answer(message: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    // It has read what it was sent before.
    carried.delete(message.socket);
    const counting = DIALECTS.find((one) => one.count && path === `/v1${one.count.path}`);
    const dialect = counting ?? DIALECTS.find((one) => path === `/v1${one.path}`);
    if (message.method === 'HEAD') return void response.writeHead(200).end();
    if (!hasKey(message, key)) return send(response, 401, failure('the key is not that of this attempt', 'wrong-key'));
    if (message.method === 'GET' && path === '/v1/models') {
      return send(response, 200, {
        object: 'list',
        data: [modelOf(model)],
        has_more: false,
        first_id: model,
        last_id: model,
      });
    }
    // A call may name any model, too: the run's answers.
    if (message.method === 'GET' && path.startsWith('/v1/models/'))
      return send(response, 200, modelOf(nameIn(path.slice('/v1/models/'.length))));
    if (message.method === 'POST' && path === '/v1/reward') return rewarded(message, response);
    if (!dialect || message.method !== 'POST') {
      return send(
        response,
        404,
        failure(`there is no ${path}: ask ${DIALECTS.map((one) => `/v1${one.path}`).join(', ')}`, 'path'),
      );
    }
    try {
      await (counting ? count : call)(dialect, message, response);
    } catch (error) {
      // Behind a sign of life an error has no status: most clients ask again after a connection that broke.
      if (response.headersSent) response.destroy();
      else if (error instanceof RefusedRequest) send(response, error.status, dialect.refusal(error));
      else send(response, 500, failure('the call could not be answered', 'call'));
    }
  }

  async function rewarded(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const problem = options.onReward(await bodyOf(message, {}));
      if (problem === undefined) send(response, 200, { ok: true });
      else send(response, 400, failure(problem, 'malformed'));
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      send(response, error.status, failure(error.message, error.reason));
    }
  }

  return {
    answer,
    async settled() {
      await Promise.allSettled(pending.values());
    },
    abandoned: () => abandonedCalls(claims).flatMap(({ id }) => (byCall.has(id) ? [id] : [])),
    unmade: () => unclaimedCalls(claims).map(({ id }) => id),
    last: () => last,
    close() {
      for (const response of holders.values()) response.destroy();
    },
  };
}

const hashOf = (request: AskedRequest): string => createHash('sha256').update(requestText(request)).digest('hex');

/** Other work of the loop comes between its steps. */
async function hashBetween(request: AskedRequest): Promise<string> {
  await nextTurn();
  // They are kept with the messages.
  for (const _ of messageForms(request.messages));
  await nextTurn();
  const text = requestText(request);
  await nextTurn();
  return createHash('sha256').update(text).digest('hex');
}

/** As OpenAI has it, and as Anthropic. */
const modelOf = (id: string): JsonObject => ({
  ...{ id, object: 'model', created: 0, owned_by: 'run' },
  ...{ type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' },
});

/** As the client wrote it, where it is no encoding. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Libraries that say when they ask again, or name a call. */
function againIn(headers: IncomingHttpHeaders): RetryHint {
  const retries = ['x-stainless-retry-count', 'x-retry-count'].some((name) => Number(headers[name] ?? 0) > 0);
  const key = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  return { retries, ...(typeof key === 'string' && { key }) };
}

const tooMany = (made: number, { maxCalls }: EndpointOptions) =>
  new RefusedRequest('max-calls', '', `is call ${made} of this rollout, which may make ${maxCalls}`);

const isCut = (reason: RefusedRequest['reason']): reason is Cut => (CUTS as readonly string[]).includes(reason);

const messageIn = (path: string, reply: AgentReply) => DIALECTS.find((one) => one.path === path)!.message(reply);

function streamText(dialect: Dialect, reply: AgentReply, body: JsonObject): string {
  return dialect
    .events(reply, body)
    .map(({ name, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
    })
    .join('');
}
