// The endpoint of one attempt of an agent: it speaks every dialect by HTTP, and gives a call its reply only when it is recorded.
// A call of an earlier attempt is answered from its record (attempt-calls.ts). The reply itself comes from the owner of the
// endpoint, which also decides how often a model is tried.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  type AgentReply,
  type AgentRequest,
  callNamedBy,
  type Cut,
  CUTS,
  itemId,
  MOST_IN_VAIN,
  refusedForm,
  repliesInVain,
  type RetryHint,
  type Structured,
  withReplyForm,
} from '../domain/agent/index.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { AnswerCall, CountTokens, RecordedReply } from './agents.ts';
import { openAttemptCalls } from './attempt-calls.ts';
import { readRequestBody } from './body.ts';
import { openDeliveries } from './deliveries.ts';
import { FINAL, RefusedRequest, restoreReplyTexts, type Dialect } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/index.ts';
import { responsesDialect } from './dialects/responses.ts';
import { errorBody, hasKey, sendJson } from './http.ts';
import { callLabel } from './label.ts';
import { sideRequests, type SideOptions } from './side-requests.ts';

export interface EndpointOptions extends SideOptions {
  /** The secret of this attempt. */
  readonly key: string;
  readonly model: string;
  /** Calls of earlier attempts, in the order in which they began. */
  readonly recorded: readonly RecordedReply[];
  readonly answer: AnswerCall;
  readonly count: CountTokens;
  /** Calls of this attempt. */
  readonly maxCalls: number;
  /** Tokens that the model's context holds. Absent: not known. */
  readonly contextLength?: number | undefined;
  /** What becomes of a form that a request asks its reply to have. */
  readonly structured?: Structured;
  /** A call was refused by one of the two. */
  readonly onCut: (cut: Cut) => void;
  /** Takes what was posted to `/v1/reward`; returns what it took, or what is wrong with it. */
  readonly onReward: (posted: unknown, calls: RewardedCalls) => TakenReward;
  /** Silence before a sign of life, for clients that give up without one. */
  readonly keepAliveMs?: number;
}

/** The calls to which a reward may be given. */
export interface RewardedCalls {
  /** The call of an id that its client knows, if it has its reply. */
  named(id: string): string | undefined;
  /** The call whose reply was sent last; null if there is none. */
  last(): string | null;
}

export type TakenReward = { readonly took: JsonObject } | { readonly problem: string };

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
const RESPONSES = `/v1${responsesDialect.path}/`;
const CALL_ID = /^[0-9a-f]{18}$/;

export function createEndpoint(options: EndpointOptions): AgentEndpoint {
  const { contextLength, keepAliveMs = KEEP_ALIVE_MS, maxCalls, structured = 'prompt' } = options;
  const calls = openAttemptCalls(options.recorded, options.answer);
  const sides = sideRequests(options);
  const deliveries = openDeliveries({ onEnd: calls.end, onDoubt: calls.doubt });

  const cut = (error: unknown): never => {
    if (error instanceof RefusedRequest && isCut(error.reason)) options.onCut(error.reason);
    throw error;
  };

  function readRequest(dialect: Dialect, body: unknown): AgentRequest {
    const request = restoreReplyTexts(dialect.read(body, calls.recordedCall), calls.recordedCall);
    const field = refusedForm(request, structured);
    if (field !== undefined) throw new RefusedRequest('unsupported-field', field, NOT_TAKEN);
    return withReplyForm(request, structured);
  }
  /** Sent, whether or not it has arrived. */
  let sent: string | null = null;
  const rewarded = { named: (id: string) => namedCall(id, calls), last: () => sent };

  async function count(dialect: Dialect, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readRequestBody(message, { contextLength, dialect: dialect.path });
    const tokens = await options.count(readRequest(dialect, body));
    if (tokens === null) return sendJson(response, 404, errorBody('this model does not show its tokens', 'tokens'));
    if (typeof tokens !== 'number') throw new RefusedRequest(tokens.refused, '', tokens.message);
    sendJson(response, 200, dialect.count!.reply(tokens));
  }

  async function call(dialect: Dialect, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = { contextLength, dialect: dialect.path, sides: sides.names };
    const body = (await readRequestBody(message, form).catch(cut)) as JsonObject;
    if (await sides.passedOn(dialect.path, body, response)) return;
    const label = callLabel(message.headers, body);
    const request = { ...calls.known(readRequest(dialect, body)), label };
    const { claim, made } = await calls.claim(request, againIn(message.headers));
    const { id } = claim.call;
    const noteWritten = deliveries.hold(id, message.socket, response);
    response.setHeader('x-everturn-call', id);
    if (claim.is !== 'new') response.setHeader('x-everturn-replayed', '1');
    const alive = setInterval(() => showLife(request, response), keepAliveMs);
    try {
      if (made > maxCalls && claim.is !== 'rerun' && !calls.has(id)) cut(tooMany(made, maxCalls));
      if (request.asks?.call !== undefined && !calls.has(id) && isInVain(request, calls.inVain(claim)))
        cut(FORCED_IN_VAIN);
      const reply = await calls.replyTo(claim, request, dialect.path);
      if (response.destroyed) return;
      if (!response.headersSent) writeHead(request, response);
      noteWritten();
      sent = id;
      response.end(request.stream ? streamText(dialect, reply, body) : JSON.stringify(dialect.whole(reply, body)));
    } finally {
      clearInterval(alive);
    }
  }

  /** A reply of this rollout, as a response: what its request said is not repeated. */
  function responseAt(path: string): JsonObject | undefined {
    const id = path.startsWith(RESPONSES) ? path.slice(RESPONSES.length) : '';
    const reply = id === '' ? undefined : calls.replyOf(callNamedBy(id) ?? '');
    return reply && itemId('resp', reply.call) === id ? responsesDialect.whole(reply, {}) : undefined;
  }

  async function answer(message: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { method } = message;
    deliveries.confirm(message.socket);
    const counting = DIALECTS.find((one) => one.count && path === `/v1${one.count.path}`);
    const dialect = counting ?? DIALECTS.find((one) => path === `/v1${one.path}`);
    if (method === 'HEAD') return void response.writeHead(200).end();
    if (!hasKey(message, options.key))
      return sendJson(response, 401, errorBody('the key is not that of this attempt', 'wrong-key'));
    const found = method === 'GET' ? (modelsAt(path, options.model) ?? responseAt(path)) : undefined;
    if (found) return sendJson(response, 200, found);
    if (method === 'POST' && path === '/v1/reward')
      return takeReward(message, response, (posted) => options.onReward(posted, rewarded));
    if (!dialect || method !== 'POST') return sides.answer(message, response, path);
    try {
      await (counting ? count : call)(dialect, message, response);
    } catch (error) {
      // Behind a sign of life an error has no status: most clients ask again after a connection that broke.
      if (response.headersSent) response.destroy();
      else if (error instanceof RefusedRequest) sendJson(response, error.status, dialect.refusal(error));
      else sendJson(response, 500, errorBody('the call could not be answered', 'call'));
    }
  }

  const { settled, abandoned, unmade } = calls;
  return { answer, settled, abandoned, unmade, last: deliveries.last, close: deliveries.close };
}

function writeHead({ stream }: AgentRequest, response: ServerResponse): void {
  const type = stream ? 'text/event-stream; charset=utf-8' : 'application/json';
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
}

/** Blanks before JSON, comments between events: clients take both for life, and neither for content. */
function showLife(request: AgentRequest, response: ServerResponse): void {
  if (!response.headersSent) writeHead(request, response);
  response.write(request.stream ? ': keep-alive\n\n' : ' ');
}

async function takeReward(
  message: IncomingMessage,
  response: ServerResponse,
  onReward: (posted: unknown) => TakenReward,
): Promise<void> {
  try {
    const taken = onReward(await readRequestBody(message, {}));
    if ('took' in taken) sendJson(response, 200, { ok: true, ...taken.took });
    else sendJson(response, 400, errorBody(taken.problem, 'malformed'));
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    sendJson(response, error.status, errorBody(error.message, error.reason));
  }
}

/** The run's model as a list, or the model of any name: a call may name any, and gets the run's answers. */
function modelsAt(path: string, model: string): JsonObject | undefined {
  if (path === '/v1/models')
    return { object: 'list', data: [modelOf(model)], has_more: false, first_id: model, last_id: model };
  return path.startsWith('/v1/models/') ? modelOf(nameIn(path.slice('/v1/models/'.length))) : undefined;
}

/** A model's entry in OpenAI's form and in Anthropic's. */
const modelOf = (id: string): JsonObject => ({
  ...{ id, object: 'model', created: 0, owned_by: 'run' },
  ...{ type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' },
});

/** The name in a path, as the client wrote it where it is no encoding. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function namedCall(id: string, calls: { readonly has: (call: string) => boolean }): string | undefined {
  const call = CALL_ID.test(id) ? id : callNamedBy(id);
  return call !== undefined && calls.has(call) ? call : undefined;
}

/** Libraries that say when they ask again, or name a call. */
function againIn(headers: IncomingHttpHeaders): RetryHint {
  const retries = ['x-stainless-retry-count', 'x-retry-count'].some((name) => Number(headers[name] ?? 0) > 0);
  const key = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  return { retries, ...(typeof key === 'string' && { key }) };
}

const tooMany = (made: number, maxCalls: number) =>
  new RefusedRequest('max-calls', '', `is call ${made} of this rollout, which may make ${maxCalls}`, FINAL);

/** `before`: equal questions whose replies brought no call. A client that forces a tool asks until there is one. */
const isInVain = ({ messages }: AgentRequest, before: number): boolean =>
  Math.max(before, repliesInVain(messages)) >= MOST_IN_VAIN;

const FORCED_IN_VAIN = new RefusedRequest(
  'max-calls',
  'tool_choice',
  `forces the call of a tool, which ${MOST_IN_VAIN} replies did not bring`,
  FINAL,
);

const NOT_TAKEN = 'is refused, as the run says (--structured refuse): leave it out';

const isCut = (reason: RefusedRequest['reason']): reason is Cut => (CUTS as readonly string[]).includes(reason);

function streamText(dialect: Dialect, reply: AgentReply, body: JsonObject): string {
  return dialect
    .events(reply, body)
    .map(({ name, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
    })
    .join('');
}
