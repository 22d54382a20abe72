// The text of a call's context as the chat template has it: of the new messages behind a reply, or of the whole conversation.
// Pure, and of plain values, so that another thread can make it.

import { markerFor, type Render } from './feedback-delta.ts';
import type { ChatMessage } from '../query/query.ts';
import type { JsonObject } from '../text/json.ts';
import { templateTools, toolExtension, type ReplyEnd } from './tool-extension.ts';
import { type AgentMessage, type AgentToolCall, type AskedRequest, prefillOf } from '../agent/index.ts';

export interface CallToShow extends Pick<AskedRequest, 'messages' | 'tools'> {
  /** Of the chat template. */
  readonly variables?: JsonObject | undefined;
  /** Only the messages behind this reply are wanted. */
  readonly behind?: {
    /** Messages before the reply. */
    readonly messages: readonly AgentMessage[];
    readonly calls: readonly AgentToolCall[];
    readonly end: ReplyEnd;
  };
}

export interface ShownCall {
  readonly text: string;
  /** The template takes no system message in mid-conversation: it was shown as a user's. */
  readonly systemAsUser: boolean;
}

type RenderChat = (messages: readonly ChatMessage[], tools?: readonly object[], variables?: JsonObject) => string;

/** Null if the template cannot show the messages behind the reply. Throws where it refuses the whole conversation. */
export function shownCall(call: CallToShow, renderChat: RenderChat): ShownCall | null {
  const { messages, behind } = call;
  const prefill = prefillOf(messages);
  if (!prefill) return shownMessages(call, renderChat);
  // A marker shows where the template ends the turn, which stays open.
  const mark = markerFor([...(behind?.messages ?? []), ...messages].map(({ role, text }) => ({ role, content: text })));
  const marked = [...messages.slice(0, -1), { ...prefill, text: prefill.text + mark }];
  const shown = shownMessages({ ...call, messages: marked }, renderChat);
  const text = shown?.text.slice(0, shown.text.lastIndexOf(mark));
  if (text === undefined) return null;
  if (!text.endsWith(prefill.text)) throw new Error('it shows the last message, the assistant’s, in another form');
  return { ...shown!, text };
}

function shownMessages({ messages, tools, variables, behind }: CallToShow, renderChat: RenderChat): ShownCall | null {
  const shown = tools.length > 0 ? templateTools(tools) : undefined;
  const render: Render = (all) => renderChat(all, shown, variables);
  if (!behind) return wholeText(messages, render);
  for (const systemAsUser of [false, true]) {
    const before = templateMessages(behind.messages, { systemAsUser });
    const added = templateMessages(messages, { systemAsUser, calls: behind.calls });
    const extended = toolExtension(render, before, added, behind.end);
    if (extended.ok) return { text: extended.text, systemAsUser };
  }
  return null;
}

/** Templates differ in the form of arguments, and some refuse system messages that are not the first. */
function wholeText(messages: readonly AgentMessage[], render: Render): ShownCall {
  let refusal: unknown;
  for (const systemAsUser of [false, true]) {
    for (const argumentsAsText of [false, true]) {
      try {
        return { text: render(templateMessages(messages, { systemAsUser, argumentsAsText })), systemAsUser };
      } catch (error) {
        refusal ??= error;
      }
    }
  }
  throw refusal;
}

interface Form {
  readonly systemAsUser?: boolean;
  readonly argumentsAsText?: boolean;
  /** Calls of the reply before the messages. */
  readonly calls?: readonly AgentToolCall[];
}

/** Messages as chat templates take them. */
function templateMessages(messages: readonly AgentMessage[], form: Form): readonly ChatMessage[] {
  let names = namesOf(form.calls ?? []);
  const opening = form.calls
    ? 0
    : Math.max(
        0,
        messages.findIndex(({ role }) => role !== 'system'),
      );
  return messages.map((message, i): ChatMessage => {
    const { role, text, reasoning } = message;
    if (role === 'system') return { role: form.systemAsUser && i >= opening ? 'user' : role, content: text };
    if (role === 'tool') {
      const id = message.callId;
      const name = id === undefined ? undefined : names.get(id);
      return {
        role,
        content: text,
        ...(name !== undefined && { name }),
        ...(id !== undefined && { tool_call_id: id }),
      };
    }
    if (role === 'user') return { role, content: text };
    const { calls = [] } = message;
    names = namesOf(calls);
    const shown = calls.map(({ id, name, arguments: given }) => ({
      id,
      type: 'function',
      function: { name, arguments: form.argumentsAsText ? JSON.stringify(given) : given },
    }));
    return {
      role,
      content: text,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(shown.length > 0 && { tool_calls: shown }),
    };
  });
}

/** The name by id; the first counts where several calls have one. */
const namesOf = (calls: readonly AgentToolCall[]): ReadonlyMap<string, string> =>
  new Map(calls.map(({ id, name }) => [id, name] as const).toReversed());
