// A request to the model as an agent's program made it, free of its dialect; and the form in which two of them are compared.
// Equal: text as a string or in parts, arguments in any spelling, any ids, with or without the reasoning of earlier replies.
// Half of all clients drop that reasoning, and no two of them write the rest alike.

import type { Json, JsonObject } from '../text/json.ts';
import { sha256Hex } from '../text/sha256.ts';
import type { Message } from '../run/query.ts';
import type { ToolSchema } from '../tools/tool.ts';

export interface AgentToolCall {
  readonly id: string;
  readonly name: string;
  /** By value; the text itself if it is not JSON. */
  readonly arguments: Json;
}

export interface AgentMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly reasoning?: string;
  readonly calls?: readonly AgentToolCall[];
  /** Of a tool's result: the id of its call. */
  readonly callId?: string;
  /** Of a tool's result: the client called it an error. */
  readonly failed?: true;
  /** Of an assistant's message: ids of the dialect's items in it, and signatures of its reasoning. */
  readonly ids?: readonly string[];
}

export interface AgentRequest {
  readonly messages: readonly AgentMessage[];
  readonly tools: readonly ToolSchema[];
  /** The first message is not of the conversation: the next request brings its own. */
  readonly instructed?: true;
  /** The fields of sampling that a client decides; all others are the run's. */
  readonly limits: { readonly maxTokens?: number; readonly stop?: readonly string[]; readonly toolChoice?: 'none' };
  readonly stream: boolean;
  /** The request taken otherwise than it asks: one sentence each. */
  readonly flags: readonly string[];
}

/** Messages without calls and reasoning, for models and formats that take no others. */
export const plainMessages = (messages: readonly AgentMessage[]): readonly Message[] =>
  messages.map(({ role, text, callId }) => ({
    role,
    content: text,
    ...(callId !== undefined && { tool_call_id: callId }),
  }));

/** The parts of a request on which its reply depends. */
export type Asked = Pick<AgentRequest, 'messages' | 'tools' | 'limits'>;
/** The part of a request that later ones may refer to. */
export type RecordedRequest = Asked & Pick<AgentRequest, 'instructed'>;

const FORMS = new WeakMap<readonly AgentMessage[], readonly string[]>();

/** One text for each message; equal texts for messages that mean the same at that place. */
export function messageForms(messages: readonly AgentMessage[]): readonly string[] {
  const known = FORMS.get(messages);
  if (known) return known;
  let calls: readonly AgentToolCall[] = [];
  const forms = messages.map((message) => {
    if (message.role === 'assistant') calls = message.calls ?? [];
    return formOf(message, calls);
  });
  FORMS.set(messages, forms);
  return forms;
}

/** `before`: the calls whose results follow. A result is known by the place of its call, since ids differ between equal replies. */
function formOf({ role, text, calls = [], callId, failed }: AgentMessage, before: readonly AgentToolCall[]): string {
  return canonicalJson({
    role,
    text,
    ...(calls.length > 0 && { calls: calls.map((call) => ({ name: call.name, arguments: call.arguments })) }),
    ...(role === 'tool' && { of: before.findIndex(({ id }) => id === callId) }),
    ...(failed && { failed }),
  });
}

/** SHA-256 of all that a reply depends on. */
export function requestHash({ messages, tools, limits }: Asked): string {
  return sha256Hex(JSON.stringify([messageForms(messages), canonicalJson(tools), canonicalJson(limits)]));
}

export function sameTools(one: Asked, other: Asked): boolean {
  return one.tools === other.tools || canonicalJson(one.tools) === canonicalJson(other.tools);
}

/** JSON with the keys of every object in order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: Json) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
