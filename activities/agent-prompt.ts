// The prompt of a turn that answers a call of an agent: the request of the call, whose context was made before its turn was begun
// (agent-context.ts).

import type { AgentMessage, AskedRecord, AskedRequest, GivenReply } from '../domain/agent/index.ts';
import { ENDPOINT_CALLS, replyGiven } from '../domain/rollout/calls.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { canonicalJson, type Json } from '../domain/text/json.ts';
import type { GivenCall, ToolSettings } from '../domain/tools/tool.ts';
import type { Tools } from '../environments/tools/tool.ts';
import type { TextMessage } from '../inference/backend.ts';
import type { Stored } from '../records/store.ts';
import type { Answered, TurnPrompt } from './turn-prompt.ts';

/** `before`: the turns on the path to the call's parent, and itself. `request`: the whole of it. */
export function agentPrompt(
  { asked, contextIds, contextText, previous }: AskedRecord,
  before: readonly Stored<TurnRecord>[],
  request: AskedRequest,
  { settings, tools }: { readonly settings: RolloutSettings; readonly tools: Tools | undefined },
): TurnPrompt {
  const { maxTokens = settings.maxNewTokens, stop = [], form } = request.limits;
  return {
    before,
    previous,
    seedName: asked.call,
    maxNewTokens: Math.min(settings.maxNewTokens, maxTokens),
    stopTexts: stop,
    ...(form && { form }),
    // A call was measured before: only a server whose context is shorter than it says has no room for it.
    mayFill: false,
    newContext: async () => ({ ids: contextIds, text: contextText }),
    conversation: async () => ({ request: requestInText(request, before), newText: '' }),
    fieldsOf(answer) {
      const reply = replyIn(answer, request, settings.tools, tools);
      return { asked, ...(reply && { reply }) };
    },
  };
}

/** The reply that an agent gets, where the answer holds calls or thoughts, or was ended by its own stop text. */
function replyIn(
  { fields, spelled = [] }: Answered,
  { tools: offered, limits }: AskedRequest,
  own: ToolSettings | undefined,
  tools: Tools | undefined,
): GivenReply | undefined {
  if (own?.format === ENDPOINT_CALLS) return replyGiven(fields, { limits });
  if (fields.reply || !own || !tools || fields.finish !== 'stop' || limits.toolChoice === 'none') return fields.reply;
  if (spelled.length > 0) return undefined;
  const reply = tools.replyIn(fields.outputText, fields.contextText, own.format, offered);
  return reply.calls || reply.reasoning !== undefined ? reply : undefined;
}

/** The request of a call as messages, with the ids by which the agent names calls. */
export function requestInText({ messages, tools, limits }: AskedRequest, before: TurnPrompt['before']) {
  const given = before.flatMap(({ record }) => record.toolCalls ?? []).filter(({ more }) => more);
  const { toolChoice, form } = limits;
  const held = { ...(toolChoice && { toolChoice }), ...(form && { form }) };
  return { messages: messages.map((message) => sent(message, given)), tools, ...held };
}

/** `given`: the calls that have fields of the endpoint's own, which the agent was not shown; each is sent once. */
function sent({ role, text, calls = [], callId, reasoning }: AgentMessage, given: GivenCall[]): TextMessage {
  const toolCalls = calls.map(({ id, name, arguments: value }) => {
    const at = given.findIndex((one) => one.name === name && isSame(one.arguments, value));
    const [{ more } = {}] = at < 0 ? [] : given.splice(at, 1);
    return { id, name, arguments: typeof value === 'string' ? value : JSON.stringify(value), ...(more && { more }) };
  });
  return {
    ...{ role, content: text },
    ...(callId !== undefined && { tool_call_id: callId }),
    ...(toolCalls.length > 0 && { toolCalls, ...(reasoning && { reasoning }) }),
  };
}

function isSame(text: string, value: Json): boolean {
  try {
    return text === value || canonicalJson(JSON.parse(text === '' ? '{}' : text)) === canonicalJson(value);
  } catch {
    return false;
  }
}
