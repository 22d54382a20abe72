// What real clients sent in a loop of calls, recorded against a scripted server and shortened. Each is played against our own
// replies: the server's texts stand, its ids are replaced by ours wherever the client sent them back.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callContext, type CallContext, type CallTokens, type PlayedCall } from '../../domain/context/call-context.ts';
import { claimCall, claimsOfAttempt, withConnectionEnded, type Claim, type Claims } from '../../domain/agent/claims.ts';
import type { AgentRequest } from '../../domain/agent/conversation.ts';
import { withReplyForm } from '../../domain/agent/asked-form.ts';
import type { AgentReply } from '../../domain/agent/reply.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { type Dialect, parseBody, type RecordedCalls, restoreReplyTexts } from '../../endpoint/dialects/dialect.ts';
import { DIALECTS } from '../../endpoint/dialects/index.ts';
import { byteTokenizer } from '../support/scripted-model.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/agents');

export interface RecordedCall {
  readonly path: string;
  /** As the client's header counts; 0 where it sends none. */
  readonly retries?: number;
  readonly fault?: string;
  readonly body: JsonObject;
  readonly reply: JsonObject;
}

export const CLIENTS: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.jsonl') && name !== 'faults.jsonl')
  .map((name) => name.replace('.jsonl', ''));

export function recorded<T = RecordedCall>(client: string): readonly T[] {
  const lines = readFileSync(join(FOLDER, `${client}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

export function dialectOf({ path }: Pick<RecordedCall, 'path'>): Dialect {
  return DIALECTS.find((dialect) => path.split('?')[0] === `/v1${dialect.path}`)!;
}

/** A body as the endpoint reads it. */
export const readAs = (dialect: Dialect, body: unknown, recorded: RecordedCalls): AgentRequest =>
  dialect.read(parseBody(dialect.schema, body), recorded);

/** All ids up to the end of a call: the beginning of every context that extends it. */
export function idsThrough(call: CallTokens, byId: ReadonlyMap<string, CallTokens>): readonly number[] {
  const before = call.parent === null ? [] : idsThrough(byId.get(call.parent)!, byId);
  return [...before, ...call.contextIds, ...call.outputIds];
}

/** The recorded reply as one of ours. */
export function replyOf(call: string, { reply }: Pick<RecordedCall, 'reply'>): AgentReply {
  const { text, reasoning, calls } = contentOf(reply);
  return {
    call,
    text,
    reasoning,
    calls,
    finish: 'stop',
    stopped: null,
    model: 'tiny',
    createdAt: 1_700_000_000,
    usage: { input: 100, cached: 0, output: 10, reasoning: 0 },
  };
}

interface Item {
  readonly type: string;
  readonly name: string;
  readonly arguments: string;
  readonly input: unknown;
  readonly content: readonly { readonly text: string }[];
  readonly text: string;
  readonly thinking: string;
}

function contentOf(reply: JsonObject): Pick<AgentReply, 'text' | 'reasoning' | 'calls'> {
  const { choices, output, content } = reply as unknown as {
    choices?: [{ message: { content: string | null; reasoning_content?: string; tool_calls?: { function: Item }[] } }];
    output?: Item[];
    content?: Item[];
  };
  if (choices) {
    const { message } = choices[0];
    const calls = (message.tool_calls ?? []).map(({ function: one }) => ({ name: one.name, arguments: one.arguments }));
    return { text: message.content ?? '', reasoning: message.reasoning_content ?? '', calls };
  }
  const texts = (type: string) =>
    (output ?? content)!
      .filter((one) => one.type === type)
      .map((one) => one.text ?? one.thinking ?? one.content[0]!.text);
  const called = (output ?? content)!.filter(({ type }) => type === 'function_call' || type === 'tool_use');
  const calls = called.map((one) => ({ name: one.name, arguments: one.arguments ?? JSON.stringify(one.input) }));
  return {
    text: texts(output ? 'message' : 'text').join(''),
    reasoning: texts(output ? 'reasoning' : 'thinking').join(''),
    calls,
  };
}

/** Ids at equal places of two replies: the server's, and ours in their stead. */
function idsIn(theirs: unknown, ours: unknown, found: Map<string, string>): void {
  if (typeof theirs !== 'object' || theirs === null) return;
  for (const [key, value] of Object.entries(theirs)) {
    const other = (ours as Record<string, unknown> | undefined)?.[key];
    if (!/^(?:id|call_id|signature|encrypted_content)$/.test(key)) idsIn(value, other, found);
    else if (other !== undefined) found.set(value as string, other as string);
  }
}

function withIds<T>(value: T, ids: ReadonlyMap<string, string>): T {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === 'string' ? (ids.get(part) ?? part) : part,
  ) as T;
}

/** A chat template that shows tools and calls. */
export const tokenizer = {
  ...byteTokenizer,
  renderChat: (
    messages: readonly { readonly role: string; readonly content: string; readonly tool_calls?: unknown }[],
    tools?: unknown,
  ) => {
    const shown = messages.map(({ role, content, tool_calls: calls }) => {
      return `<start>${role}\n${content}${calls ? JSON.stringify(calls) : ''}<end>\n`;
    });
    return `${tools ? JSON.stringify(tools) : ''}${shown.join('')}<start>assistant\n`;
  },
};

export interface Step {
  readonly claim: Claim;
  readonly request: AgentRequest;
  /** Absent where a call is not new. */
  readonly context?: CallContext;
}

/** An endpoint without HTTP. */
export class Player {
  claims: Claims = claimsOfAttempt([]);
  readonly played: PlayedCall[] = [];
  /** Requests that the endpoint has read, by the id of their call. */
  readonly #requests = new Map<string, AgentRequest>();
  readonly #ids = new Map<string, string>();

  /** `alter`: as another process of the agent writes the body. */
  async play(call: RecordedCall, alter = (body: JsonObject): JsonObject => body): Promise<Step> {
    const request = this.read(call, alter);
    const { claims, claim: taken } = claimCall(this.claims, request, { retries: (call.retries ?? 0) > 0 });
    this.claims = claims;
    const dialect = dialectOf(call);
    const { id } = taken.call;
    const before = taken.call.reply;
    const reply = call.fault === undefined || call.fault === 'cut' ? replyOf(id, call) : undefined;
    const message = before ?? (reply && dialect.message(reply));
    if (reply) idsIn(call.reply, dialect.whole(reply, call.body), this.#ids);
    let context: CallContext | undefined;
    if (reply && !before) {
      context = await callContext(request, this.played, tokenizer, { stops: [] });
      const outputIds = [
        ...(await tokenizer.encode(`${reply.reasoning}${reply.text}${JSON.stringify(reply.calls)}`)),
        256,
      ];
      const { parent, ids: contextIds } = context;
      this.played.push({ id, request, reply: message!, parent, contextIds, outputIds, finish: 'stop' });
      this.#requests.set(id, request);
    }
    this.claims = withConnectionEnded(this.claims, id, call.fault === undefined, message);
    return { claim: taken, request, ...(context && { context }) };
  }

  read(call: RecordedCall, alter = (body: JsonObject): JsonObject => body): AgentRequest {
    const recorded: RecordedCalls = (id) => {
      const reply = this.played.find((one) => one.id === id)?.reply;
      return reply && { request: this.#requests.get(id)!, reply };
    };
    const request = readAs(dialectOf(call), alter(withIds(call.body, this.#ids)), recorded);
    return withReplyForm(restoreReplyTexts(request, recorded), 'prompt');
  }

  /** The agent was killed, and begins once more. */
  restart(): void {
    this.claims = claimsOfAttempt(this.claims.calls);
  }
}
