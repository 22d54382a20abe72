// A request to the model as an agent's program made it, free of its dialect; and the form in which two of them are compared.
// Equal: text as a string or in parts, arguments in any spelling, any ids, with or without the reasoning of earlier replies.
// Half of all clients drop that reasoning, and no two of them write the rest alike.

import { canonicalJson, type Json, withSortedKeys } from '../text/json.ts';
import { sha256Hex } from '../text/sha256.ts';
import type { Message } from '../query/query.ts';
import type { Asks, ReplyForm } from './reply-form.ts';
import type { ToolSchema } from '../tools/tool.ts';

export interface AgentToolCall {
  readonly id: string;
  readonly name: string;
  /** The value of their JSON; the text itself if it is none. */
  readonly arguments: Json;
}

export interface AgentMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly reasoning?: string;
  readonly calls?: readonly AgentToolCall[];
  /** The call's id, in a message with its result. */
  readonly callId?: string;
  /** The client called this result of a tool an error. */
  readonly failed?: true;
  /** Ids of the dialect's items in an assistant's message, and signatures of its reasoning. */
  readonly ids?: readonly string[];
}

export type ToolChoice = 'none' | 'required' | { readonly name: string };

export interface AgentRequest {
  readonly messages: readonly AgentMessage[];
  readonly tools: readonly ToolSchema[];
  /** The first message is not of the conversation: the next request brings its own. */
  readonly instructed?: true;
  /** The fields of sampling that a client decides; all others are the run's. */
  readonly limits: {
    readonly maxTokens?: number;
    readonly stop?: readonly string[];
    /** More than `none` only where an endpoint of chat completions takes it. */
    readonly toolChoice?: ToolChoice;
    /** The server holds the reply to it. */
    readonly form?: ReplyForm;
  };
  /** The form that it asks for, however the run takes it. */
  readonly asks?: Asks;
  readonly stream: boolean;
  /** The request taken otherwise than it asks: one sentence each. */
  readonly flags: readonly string[];
  /** No reply depends on it. */
  readonly label?: CallLabel;
}

/** What a program says of a call beside its request. */
export interface CallLabel {
  /** The model that it asks for. */
  readonly model?: string;
  readonly tag?: string;
  /** It is not trained. */
  readonly train?: false;
}

/** The beginning of the reply, where the last message is the assistant's: the model goes on from its text. */
export function prefillOf(messages: readonly AgentMessage[]): AgentMessage | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' && !last.calls && last.text !== '' ? last : undefined;
}

/** Messages without calls and reasoning, for models and formats that take no others. */
export const plainMessages = (messages: readonly AgentMessage[]): readonly Message[] =>
  messages.map(({ role, text, callId }) => ({
    role,
    content: text,
    ...(callId !== undefined && { tool_call_id: callId }),
  }));

/** The parts of a request on which its reply depends. */
export type AskedRequest = Pick<AgentRequest, 'messages' | 'tools' | 'limits'>;
/** The part of a request that later ones may refer to. */
export type RecordedRequest = AskedRequest & Pick<AgentRequest, 'instructed' | 'asks'>;

interface Form {
  /** The place, among the calls before it, of the one whose result it is. */
  readonly of: number | undefined;
  readonly text: string;
}

const FORMS = new WeakMap<AgentMessage, Form>();

/** One text for each message; equal texts for messages that mean the same at that place. */
export function* messageForms(messages: readonly AgentMessage[]): Generator<string> {
  let before: ReadonlyMap<string | undefined, number> = new Map();
  for (const message of messages) {
    if (message.role === 'assistant') before = placesOf(message.calls ?? []);
    yield formOf(message, message.role === 'tool' ? (before.get(message.callId) ?? -1) : undefined);
  }
}

/** The place of each id; the first counts where several calls have one. */
const placesOf = (calls: readonly AgentToolCall[]): ReadonlyMap<string, number> =>
  new Map(calls.map(({ id }, place) => [id, place] as const).toReversed());

/** `of`: a result is known by the place of its call, since ids differ between equal replies. */
function formOf(message: AgentMessage, of: number | undefined): string {
  const cachedForm = FORMS.get(message);
  if (cachedForm && cachedForm.of === of) return cachedForm.text;
  const { role, text: said, calls = [], failed } = message;
  // The keys are in order as they stand, so that the long texts are written once.
  const text = JSON.stringify({
    ...(calls.length > 0 && {
      calls: calls.map(({ name, arguments: given }) => ({ arguments: withSortedKeys(given), name })),
    }),
    ...(failed && { failed }),
    ...(of !== undefined && { of }),
    role,
    text: said,
  });
  FORMS.set(message, { of, text });
  return text;
}

/** The form of a message of the assistant, which depends on no other one. */
export const formAlone = (message: AgentMessage): string => formOf(message, undefined);

/**
 * The request with the messages of the one of `earlier` that begins most like it: a client sends its conversation with each call, and
 * what is equal is kept once, with its form.
 */
export function withKnownMessages<T extends AskedRequest>(request: T, earlier: readonly AskedRequest[]): T {
  let [known, most]: [AskedRequest | undefined, number] = [undefined, 0];
  for (const one of earlier) {
    const differsAt = one.messages.findIndex((message, i) => !isSame(message, request.messages[i]));
    const equal = differsAt < 0 ? one.messages.length : differsAt;
    if (equal > most) [known, most] = [one, equal];
  }
  if (!known) return request;
  const messages = [...known.messages.slice(0, most), ...request.messages.slice(most)];
  const haveSameTools = JSON.stringify(known.tools) === JSON.stringify(request.tools);
  return { ...request, messages, ...(haveSameTools && { tools: known.tools }) };
}

function isSame(one: AgentMessage, other: AgentMessage | undefined): boolean {
  if (!other || one.role !== other.role || one.text !== other.text || one.callId !== other.callId) return false;
  const { text: _text, ...rest } = one;
  const { text: _other, ...otherRest } = other;
  return JSON.stringify(rest) === JSON.stringify(otherRest);
}

/** The text of all that a reply depends on. */
export function requestText({ messages, tools, limits }: AskedRequest): string {
  return JSON.stringify([[...messageForms(messages)], canonicalJson(tools), canonicalJson(limits)]);
}

/** Its SHA-256. */
export const requestHash = (request: AskedRequest): string => sha256Hex(requestText(request));

export function sameTools(one: AskedRequest, other: AskedRequest): boolean {
  return one.tools === other.tools || canonicalJson(one.tools) === canonicalJson(other.tools);
}
