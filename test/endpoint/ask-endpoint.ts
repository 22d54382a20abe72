// One request to an endpoint of its own, and what became of it.

import type { AgentRequest } from '../../domain/agent/conversation.ts';
import type { Structured } from '../../domain/agent/reply-form.ts';
import { openEndpoint } from './open-endpoint.ts';
import { recorded, replyOf } from './recorded-agents.ts';

export const KEY = 'secret-of-this-attempt';
export const [ANSWER] = recorded('openai-python').slice(-1);

export type Api = 'chat/completions' | 'responses' | 'messages';
export const APIS: readonly Api[] = ['chat/completions', 'responses', 'messages'];
export const USER = [{ role: 'user', content: 'Add 3 and 4.' }];
const BASE: Readonly<Record<Api, object>> = {
  'chat/completions': { messages: USER },
  responses: { input: USER },
  messages: { messages: USER, max_tokens: 100 },
};
export const SCHEMA = { properties: { sum: { type: 'integer' } }, required: ['sum'], type: 'object' };
const ADD = { name: 'add', description: 'Adds.' };
export const TOOLS: Readonly<Record<Api, object>> = {
  'chat/completions': { tools: [{ type: 'function', function: { ...ADD, parameters: SCHEMA } }] },
  responses: { tools: [{ type: 'function', ...ADD, parameters: SCHEMA }] },
  messages: { tools: [{ ...ADD, input_schema: SCHEMA }] },
};

/** What became of a request. */
interface Outcome {
  readonly status: number;
  readonly code?: string;
  readonly field?: string;
  readonly request?: AgentRequest;
}

export async function ask(api: Api, more: object, structured: Structured = 'prompt'): Promise<Outcome> {
  let request: AgentRequest | undefined;
  const endpoint = await openEndpoint({
    ...{ key: KEY, model: 'tiny', recorded: [], maxCalls: 100, structured },
    onReward: () => ({ took: {} }),
    onCut: () => undefined,
    answer: ({ call }, asked) => {
      request = asked;
      return Promise.resolve(replyOf(call.id, ANSWER!));
    },
  });
  const response = await fetch(`${endpoint.url}/v1/${api}`, {
    method: 'POST',
    headers: { 'x-api-key': KEY },
    body: JSON.stringify({ ...BASE[api], ...more }),
  });
  const text = await response.text();
  await endpoint.close();
  if (response.status === 200) return { status: 200, request: request! };
  const { error } = JSON.parse(text) as { error: { code?: string; param?: string; message: string } };
  return { status: response.status, code: error.code ?? '', field: error.param ?? error.message.split(' ')[0]! };
}
