// The answer of a model that takes messages and gives text: one request with the whole conversation. No ids and no
// logprobs of ids are recorded, so the turn is marked as not trainable. Its tokens are those that the server counts, and
// chunks do not apply.

import type { AgentMessage, AskedRequest } from '../domain/agent/conversation.ts';
import { canonicalJson, type Json } from '../domain/text/json.ts';
import { conversationOf, newTranscript } from '../domain/context/new-context.ts';
import type { GivenCall } from '../domain/tools/tool.ts';
import type { TextBackend, TextMessage } from '../inference/backend.ts';
import { type Answered, type NoRoom, nullIfFull, requestOf, type Turn, wantedTokens } from './answer.ts';

export async function answerInText(backend: TextBackend, asked: Turn): Promise<Answered | NoRoom> {
  const { rollout, turn, before, judged, options } = asked;
  const earlier = asked.request ? [] : await Promise.all(before.map((_, place) => judged(place)));
  const request = {
    ...requestOf(asked),
    maxNewTokens: wantedTokens(asked),
    ...(asked.request
      ? ofRequest(asked.request, before)
      : { messages: conversationOf(rollout.query.prompt, earlier), tools: rollout.settings.tools?.list ?? [] }),
  };
  const reply = await backend.generate(request, options).catch(nullIfFull(turn));
  if (!reply) return { noRoom: true, contextTokens: 0, modelLength: null };
  const {
    text,
    finish,
    maxNewTokens = request.maxNewTokens,
    server,
    textLogprobs,
    usage,
    reasoning,
    toolCalls,
  } = reply;
  return {
    fields: {
      contextIds: [],
      contextText: asked.asked ? '' : newTranscript(rollout, earlier.at(-1) ?? null),
      outputIds: [],
      logprobs: [],
      outputText: text,
      answer: text,
      finish,
      versions: [],
      versionStart: 0,
      versionEnd: 0,
      contextLength: 0,
      maxNewTokens,
      server,
      trainable: false,
      ...(textLogprobs.length > 0 && { textLogprobs }),
      ...(usage && { usage }),
      ...(reasoning && { reasoning }),
      ...(toolCalls && { toolCalls }),
    },
    chunks: 0,
  };
}

/** The request of an agent's call, with the ids by which the agent names calls. */
function ofRequest({ messages, tools, limits }: AskedRequest, before: Turn['before']) {
  const given = before.flatMap(({ record }) => record.toolCalls ?? []).filter(({ more }) => more);
  return { messages: messages.map((message) => sent(message, given)), tools, noCalls: limits.toolChoice === 'none' };
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
