// The tokens that a call adds: behind its parent's own ids only the text that the chat template has for the new messages, or
// the whole conversation rendered as a new root. Ids that the model sampled are never made from text again.

import { idsBehind, type ContextTokenizer } from '../rollout/new-context.ts';
import type { ChatMessage } from '../run/query.ts';
import { templateTools, toolExtension, type ReplyEnd } from '../tools/tool-extension.ts';
import type { AgentMessage, AgentToolCall, Asked } from './conversation.ts';
import { placeOf, type AnsweredCall, type Branch } from './call-tree.ts';

/** A call with its tokens; each token of a rollout is stored once. */
export interface CallTokens {
  readonly id: string;
  /** Null for a root. */
  readonly parent: string | null;
  /** Ids new in its context, behind the parent's; all of them for a root. */
  readonly contextIds: readonly number[];
  /** Sampled ids, the stop token included. */
  readonly outputIds: readonly number[];
}

/** A call with its reply and its tokens. `stop`: the last token is one that ends replies. */
export interface PlayedCall extends AnsweredCall, CallTokens {
  readonly finish: 'stop' | 'length';
}

/** All ids up to the end of a call: the beginning of every context that extends it. */
export function idsThrough(call: CallTokens, byId: ReadonlyMap<string, CallTokens>): readonly number[] {
  const parts: (readonly number[])[] = [];
  const seen = new Set<string>();
  for (let at: CallTokens | undefined = call; at; at = at.parent === null ? undefined : byId.get(at.parent)) {
    if (seen.has(at.id) || (at.parent !== null && !byId.has(at.parent)))
      throw new Error(`call ${at.id} has no call ${at.parent} before it`);
    seen.add(at.id);
    parts.unshift(at.contextIds, at.outputIds);
  }
  return parts.flat();
}

export interface CallContext {
  readonly parent: string | null;
  readonly branch: Branch | null;
  /** The 0-based first message that made it a branch; null if it is none. */
  readonly differsAt: number | null;
  /** New ids, behind the parent's. */
  readonly ids: readonly number[];
  /** Their text. */
  readonly text: string;
  /** Messages of the request that are the parent's own; 0 where the whole request was rendered. */
  readonly shared: number;
  /** The echo of the parent's reply lacks its reasoning, which stays in the tokens. */
  readonly reasoningDropped: boolean;
  /** The template takes no system message in mid-conversation: it was shown as a user's. */
  readonly systemAsUser: boolean;
}

/** `calls`: those with a reply, in the order in which they began. `format`: how the model's format ends calls. */
export async function callContext(
  request: Asked,
  calls: readonly PlayedCall[],
  tokenizer: ContextTokenizer,
  format: Omit<ReplyEnd, 'stop'>,
): Promise<CallContext> {
  const place = placeOf(request, calls);
  const tools = request.tools.length > 0 ? templateTools(request.tools) : undefined;
  const render = (messages: readonly ChatMessage[]) => tokenizer.renderChat(messages, tools);
  const whole = { shared: 0, reasoningDropped: false };
  if (place.parent) {
    const { parent, added, reasoningDropped } = place;
    const last = parent.finish === 'stop' ? parent.outputIds.at(-1) : undefined;
    const stop = last === undefined ? null : await tokenizer.decode([last], { skipSpecialTokens: false });
    for (const systemAsUser of [false, true]) {
      const before = templateMessages(parent.request.messages, { systemAsUser });
      const behind = templateMessages(added, { systemAsUser, calls: parent.reply.calls ?? [] });
      const extended = toolExtension(render, before, behind, { ...format, stop });
      if (!extended.ok) continue;
      const { text } = extended;
      const ids = await idsBehind(tokenizer, stop === null ? ['a', '.', '\n'] : [stop], text);
      const shared = parent.request.messages.length;
      return { parent: parent.id, branch: null, differsAt: null, ids, text, shared, reasoningDropped, systemAsUser };
    }
  }
  const [branch, differsAt] = place.parent
    ? ['not-extensible' as const, request.messages.length - place.added.length]
    : [place.branch, place.branch === null ? null : place.differsAt];
  const { text, systemAsUser } = wholeText(request.messages, render);
  const ids = await tokenizer.encodeRendered(text);
  // A rendering that begins with the ids of a call extends that call, by whatever way it came about.
  const byId = new Map(calls.map((call) => [call.id, call]));
  const begun = longest(
    calls.map((call) => ({ call, ids: idsThrough(call, byId) })).filter((one) => begins(ids, one.ids)),
  );
  if (!begun) return { parent: null, branch, differsAt, ids, text, ...whole, systemAsUser };
  const rest = ids.slice(begun.ids.length);
  const shown = await tokenizer.decode(rest, { skipSpecialTokens: false });
  return { parent: begun.call.id, branch: null, differsAt: null, ids: rest, text: shown, ...whole, systemAsUser };
}

/** Templates differ in the form of arguments, and some refuse system messages that are not the first. */
function wholeText(messages: readonly AgentMessage[], render: (messages: readonly ChatMessage[]) => string) {
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
  let calls = form.calls ?? [];
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
      const name = calls.find(({ id }) => id === message.callId)?.name;
      const id = message.callId;
      return {
        role,
        content: text,
        ...(name !== undefined && { name }),
        ...(id !== undefined && { tool_call_id: id }),
      };
    }
    if (role === 'user') return { role, content: text };
    calls = message.calls ?? [];
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

const begins = (ids: readonly number[], with_: readonly number[]): boolean =>
  with_.length < ids.length && with_.every((id, i) => ids[i] === id);

function longest<T extends { readonly ids: readonly number[] }>(all: readonly T[]): T | undefined {
  return all.toSorted((a, b) => b.ids.length - a.ids.length)[0];
}
