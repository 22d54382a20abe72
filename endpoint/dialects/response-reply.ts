// A recorded reply as OpenAI's responses: whole, and as the events of a stream.

import { type AgentReply, itemId } from '../../domain/agent/index.ts';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import type { StreamEvent } from './dialect.ts';

export function wholeResponse(reply: AgentReply, body: JsonObject): JsonObject {
  const isCut = reply.finish === 'length';
  return response(reply, body, isCut ? 'incomplete' : 'completed', itemsOf(reply));
}

/** The fields that a response repeats from its request, with the values they have if it leaves them out. */
const REPEATED: JsonObject = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

function response(reply: AgentReply, body: JsonObject, status: string, output: readonly JsonObject[]): JsonObject {
  const { usage, call, createdAt, model } = reply;
  const isOver = status !== 'in_progress';
  return {
    id: itemId('resp', call),
    object: 'response',
    created_at: createdAt,
    completed_at: isOver ? createdAt : null,
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model,
    output,
    ...Object.fromEntries(Object.entries(REPEATED).map(([field, usual]) => [field, body[field] ?? usual])),
    usage: isOver
      ? {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: usage.reasoning },
          total_tokens: usage.input + usage.output,
        }
      : null,
  };
}

function itemsOf({ call, reasoning, text, calls, finish }: AgentReply): readonly JsonObject[] {
  const status = finish === 'length' ? 'incomplete' : 'completed';
  return [
    ...(reasoning === ''
      ? []
      : [
          {
            type: 'reasoning',
            id: itemId('rs', call),
            summary: [],
            content: [{ type: 'reasoning_text', text: reasoning }],
            encrypted_content: itemId('sealed', call),
            status: 'completed',
          },
        ]),
    ...(text === '' && calls.length > 0
      ? []
      : [{ type: 'message', id: itemId('msg', call), role: 'assistant', status, content: [textPart(text)] }]),
    ...calls.map(({ name, arguments: given }, i) => ({
      type: 'function_call',
      id: itemId('fc', call, i),
      call_id: itemId('call', call, i),
      name,
      arguments: given,
      status: 'completed',
    })),
  ];
}

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });

export function responseEvents(reply: AgentReply, body: JsonObject): readonly StreamEvent[] {
  const whole = wholeResponse(reply, body);
  const begun = response(reply, body, 'in_progress', []);
  const steps: readonly (readonly [string, JsonObject])[] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...itemsOf(reply).flatMap((item, output_index) => itemSteps(item, output_index)),
    [`response.${whole['status'] as string}`, { response: whole }],
  ];
  return steps.map(([name, data], sequence_number) => ({ name, data: { type: name, sequence_number, ...data } }));
}

function itemSteps(item: JsonObject, output_index: number): (readonly [string, JsonObject])[] {
  const at = { item_id: item['id']!, output_index };
  const [begun, between] = inside(item, at);
  return [
    ['response.output_item.added', { output_index, item: { ...item, ...begun, status: 'in_progress' } }],
    ...between,
    ['response.output_item.done', { output_index, item }],
  ];
}

/** The item before its content, and the events that bring the content. */
function inside(item: JsonObject, at: JsonObject): [JsonObject, (readonly [string, JsonObject])[]] {
  if (item['type'] === 'function_call') {
    const given = item['arguments'] as Json;
    return [
      { arguments: '' },
      [
        ['response.function_call_arguments.delta', { ...at, delta: given }],
        ['response.function_call_arguments.done', { ...at, name: item['name']!, arguments: given }],
      ],
    ];
  }
  const [part] = item['content'] as readonly [JsonObject];
  const text = part['text'] as string;
  const where = { ...at, content_index: 0 };
  const of = item['type'] === 'reasoning' ? 'reasoning_text' : 'output_text';
  const more = of === 'output_text' ? { logprobs: [] } : {};
  return [
    { content: [] },
    [
      ['response.content_part.added', { ...where, part: { ...part, text: '' } }],
      [`response.${of}.delta`, { ...where, delta: text, ...more }],
      [`response.${of}.done`, { ...where, text, ...more }],
      ['response.content_part.done', { ...where, part }],
    ],
  ];
}
