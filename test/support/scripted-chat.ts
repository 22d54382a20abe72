// A server of chat completions that gives the replies of a script, each by its place in the conversation, and refuses a
// conversation whose results do not answer the calls before them, as OpenAI does, or whose calls lack its signatures, as Gemini does.

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { listenHttp } from './http-listener.ts';

export interface ScriptedReply {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly calls?: readonly Called[];
}

interface Called {
  readonly name: string;
  readonly arguments: string;
}

interface SentMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: Called; readonly extra_content?: unknown }[];
  readonly tool_call_id?: string;
}

export interface ScriptedChat {
  /** Of `--model`. */
  readonly model: string;
  /** The requests with tools, as they came. */
  readonly asked: { readonly messages: readonly SentMessage[]; readonly tools: readonly unknown[] }[];
  close(): void;
}

export async function scriptedChat(script: readonly ScriptedReply[], latencyMs = 0): Promise<ScriptedChat> {
  const asked: ScriptedChat['asked'] = [];
  const { url, close } = await listenHttp(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const { messages, tools = [] } = JSON.parse(text) as ScriptedChat['asked'][number];
    if (tools.length > 0) asked.push({ messages, tools });
    await sleep(latencyMs);
    const unanswered = problemOf(messages);
    if (unanswered !== undefined) {
      response.writeHead(400).end(JSON.stringify({ error: { message: unanswered } }));
      return;
    }
    const place = messages.filter(({ role }) => role === 'assistant').length;
    const { calls, ...said } = tools.length === 0 ? { content: 'Yes.' } : (script[place] as ScriptedReply);
    const tool_calls = calls?.map((call, i) => ({
      id: `call_${place}_${i}`,
      type: 'function',
      function: call,
      ...signed(call),
    }));
    const message = { role: 'assistant', content: null, ...said, ...(tool_calls && { tool_calls }) };
    const choice = { index: 0, message, finish_reason: tool_calls ? 'tool_calls' : 'stop' };
    const usage = { prompt_tokens: 10 * messages.length, completion_tokens: 7, total_tokens: 10 * messages.length + 7 };
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'm', choices: [choice], usage }));
  });
  return { model: `openai:${url}/v1#m`, asked, close };
}

const signed = ({ name }: Called) => ({ extra_content: { google: { thought_signature: `of ${name}` } } });

/** Each call has one result behind it, and each result is of a call. */
function problemOf(messages: readonly SentMessage[]): string | undefined {
  let open: string[] = [];
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === 'tool' && !open.includes(tool_call_id ?? ''))
      return `no call ${tool_call_id} stands before its result`;
    open = role === 'tool' ? open.filter((id) => id !== tool_call_id) : open;
    if (role !== 'tool' && open.length > 0) return `call ${open[0]} has no result`;
    const unsigned = tool_calls?.find(
      (call) => !isDeepStrictEqual(call.extra_content, signed(call.function).extra_content),
    );
    if (unsigned) return `Function call ${unsigned.id} is missing a thought_signature`;
    if (tool_calls) open = tool_calls.map(({ id }) => id);
  }
  return open.length > 0 ? `call ${open[0]} has no result` : undefined;
}
