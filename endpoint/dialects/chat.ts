// Chat completions, as OpenAI documents them, with the reasoning where vLLM and SGLang put it.

import { z } from 'zod';
import {
  type AgentMessage,
  type AgentReply,
  type AgentRequest,
  itemId,
  replyMessage,
} from '../../domain/agent/index.ts';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import { asksOf, callAsked, FORM_FIELDS, formAsked, FORMAT, TOOL_CHOICE } from './asks.ts';
import {
  ARGUMENTS,
  codeOf,
  readCallArguments,
  CONTENT,
  type Dialect,
  readFunctions,
  TOKEN_LIMIT,
  type RecordedCalls,
  refuseFields,
  resultTextOf,
  STOP_TEXT,
  type StreamEvent,
  joinTexts,
} from './dialect.ts';
import { flagLeftOut } from './left-out.ts';

const MESSAGE = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: CONTENT,
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: ARGUMENTS }) }))
    .nullish(),
  tool_call_id: z.string().nullish(),
});

const REQUEST = z.looseObject({
  messages: z.array(MESSAGE).min(1),
  tools: z
    .array(
      z.looseObject({
        type: z.string(),
        function: z
          .looseObject({
            name: z.string(),
            description: z.string().nullish(),
            parameters: z.record(z.string(), z.json()).nullish(),
          })
          .optional(),
      }),
    )
    .nullish(),
  tool_choice: TOOL_CHOICE,
  response_format: FORMAT.nullish(),
  ...FORM_FIELDS,
  max_tokens: TOKEN_LIMIT,
  max_completion_tokens: TOKEN_LIMIT,
  stop: z.union([STOP_TEXT, z.array(STOP_TEXT)]).nullish(),
  stream: z.boolean().nullish(),
  n: z.int().positive().nullish(),
  logprobs: z.boolean().nullish(),
  functions: z.array(z.unknown()).nullish(),
  modalities: z.array(z.string()).nullish(),
});

export const chatDialect: Dialect = {
  path: '/chat/completions',
  schema: REQUEST,
  read: (asked, recorded) => read(asked as z.output<typeof REQUEST>, recorded),
  message: (reply) => replyMessage(reply),
  whole: (reply) => ({
    ...head(reply, 'chat.completion'),
    choices: [{ index: 0, message: messageOf(reply), logprobs: null, finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
  }),
  events,
  refusal: (refused) => ({
    error: { message: refused.message, type: 'invalid_request_error', param: refused.field, code: codeOf(refused) },
  }),
};

function read(asked: z.output<typeof REQUEST>, recorded: RecordedCalls): AgentRequest {
  refuseFields({
    n: (asked.n ?? 1) !== 1,
    logprobs: asked.logprobs === true,
    functions: asked.functions != null,
    modalities: asked.modalities?.some((one) => one !== 'text') ?? false,
  });
  const flags = flagLeftOut(asked, REQUEST);
  const maxTokens = asked.max_completion_tokens ?? asked.max_tokens;
  const stop = typeof asked.stop === 'string' ? [asked.stop] : (asked.stop ?? []);
  return {
    messages: asked.messages.map((message, i) => messageRead(message, i, recorded)),
    tools: readFunctions(asked.tools, ({ function: given }) => given && schemaOf(given), flags),
    limits: {
      ...(maxTokens != null && { maxTokens }),
      ...(stop.length > 0 && { stop }),
      ...(asked.tool_choice === 'none' && { toolChoice: 'none' }),
    },
    ...asksOf(formAsked(asked.response_format, 'response_format', asked), callAsked(asked.tool_choice)),
    stream: asked.stream === true,
    flags,
  };
}

const schemaOf = (given: {
  name: string;
  description?: string | null | undefined;
  parameters?: JsonObject | null | undefined;
}) => ({
  name: given.name,
  description: given.description ?? '',
  parameters: given.parameters ?? {},
});

function messageRead(message: z.output<typeof MESSAGE>, i: number, recorded: RecordedCalls): AgentMessage {
  const { role } = message;
  const text = (role === 'tool' ? resultTextOf : joinTexts)(message.content, `messages[${i}].content`);
  if (role === 'system' || role === 'developer') return { role: 'system', text };
  if (role === 'user') return { role, text };
  if (role === 'tool') return { role, text, ...(message.tool_call_id != null && { callId: message.tool_call_id }) };
  const reasoning = message.reasoning_content ?? message.reasoning;
  const calls = (message.tool_calls ?? []).map(({ id, function: called }, j) => ({
    id,
    name: called.name,
    arguments: readCallArguments(
      called.arguments,
      { id, field: `messages[${i}].tool_calls[${j}].function.arguments` },
      recorded,
    ),
  }));
  return { role, text, ...(reasoning && { reasoning }), ...(calls.length > 0 && { calls }) };
}

function head({ call, model, createdAt }: AgentReply, object: string): JsonObject {
  return {
    id: `chatcmpl-${call}00`,
    object,
    created: createdAt,
    model,
    service_tier: 'default',
    system_fingerprint: null,
  };
}

function messageOf(reply: AgentReply): JsonObject {
  const calls = callsOf(reply);
  return {
    role: 'assistant',
    content: contentOf(reply),
    refusal: null,
    annotations: [],
    ...(reply.reasoning !== '' && { reasoning_content: reply.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

const contentOf = ({ text, calls }: AgentReply): string | null => (text === '' && calls.length > 0 ? null : text);

const callsOf = ({ call, calls }: AgentReply) =>
  calls.map((one, i) => ({
    id: itemId('call', call, i),
    type: 'function',
    function: { name: one.name, arguments: one.arguments },
  }));

function finishOf({ finish, calls }: AgentReply): string {
  if (finish === 'length') return 'length';
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

const usageOf = ({ usage: { input, cached, output, reasoning } }: AgentReply): JsonObject => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: reasoning,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
});

/** One chunk for each kind of content; the count of tokens if it is asked for. */
function events(reply: AgentReply, body: JsonObject): readonly StreamEvent[] {
  const options = body['stream_options'] as JsonObject | null | undefined;
  const counts = options?.['include_usage'] === true;
  const chunk = (choices: Json, usage: Json = null): StreamEvent => ({
    data: { ...head(reply, 'chat.completion.chunk'), choices, ...(counts && { usage }) },
  });
  const delta = (given: JsonObject, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: given, logprobs: null, finish_reason }]);
  return [
    delta({ role: 'assistant', content: reply.calls.length > 0 ? null : '', refusal: null }),
    ...(reply.reasoning === '' ? [] : [delta({ reasoning_content: reply.reasoning })]),
    ...(reply.text === '' ? [] : [delta({ content: reply.text })]),
    ...callsOf(reply).map((call, index) => delta({ tool_calls: [{ index, ...call }] })),
    delta({}, finishOf(reply)),
    ...(counts ? [chunk([], usageOf(reply))] : []),
    { data: '[DONE]' },
  ];
}
