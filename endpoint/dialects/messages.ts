// Anthropic's messages.

import { z } from 'zod';
import {
  type AgentMessage,
  type AgentReply,
  type AgentRequest,
  itemId,
  jsonOrText,
  replyMessage,
} from '../../domain/agent/index.ts';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import { asksOf, callAsked, FORM_FIELDS, formAsked, FORMAT, TOOL_CHOICE } from './asks.ts';
import {
  CONTENT,
  continueFromReply,
  type Dialect,
  readFunctions,
  TOKEN_LIMIT,
  PARTS,
  type RecordedCalls,
  refuseFields,
  RefusedRequest,
  resultTextOf,
  STOP_TEXT,
  type StreamEvent,
  joinTexts,
} from './dialect.ts';
import { flagLeftOut } from './left-out.ts';

const BLOCK = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.json().optional(),
  tool_use_id: z.string().optional(),
  content: CONTENT,
  is_error: z.boolean().nullish(),
});
type Block = z.output<typeof BLOCK>;

const MESSAGE = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(BLOCK)]),
});

/** The server holds the conversation, its system text and its tools: only new messages are sent. */
const CONTINUES = z.looseObject({ type: z.literal('continue'), previous_message_id: z.string() });

const REQUEST = z.looseObject({
  messages: z.array(MESSAGE).min(1),
  system: z.union([z.string(), PARTS]).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.string().optional(),
        name: z.string().optional(),
        description: z.string().optional(),
        input_schema: z.record(z.string(), z.json()).optional(),
      }),
    )
    .nullish(),
  tool_choice: TOOL_CHOICE,
  ...FORM_FIELDS,
  max_tokens: TOKEN_LIMIT,
  stop_sequences: z.array(STOP_TEXT).nullish(),
  stream: z.boolean().nullish(),
  output_config: z.looseObject({ format: FORMAT.nullish() }).nullish(),
  output_format: FORMAT.nullish(),
  mcp_servers: z.array(z.unknown()).nullish(),
  compaction: z.unknown().optional(),
  thread: z.union([z.looseObject({ type: z.literal('create') }), CONTINUES]).nullish(),
});

export const messagesDialect: Dialect = {
  path: '/messages',
  schema: REQUEST,
  read: (asked, recorded) => read(asked as z.output<typeof REQUEST>, recorded),
  message: (reply) => ({ ...replyMessage(reply, 'toolu'), ids: [itemId('msg', reply.call)] }),
  whole: (reply) => ({
    ...head(reply),
    content: blocksOf(reply),
    ...stopOf(reply),
    usage: usageOf(reply),
  }),
  events,
  refusal: ({ message, reason, status }) => ({
    type: 'error',
    // The library takes this word as the cause to send its whole conversation again.
    error: {
      type: TYPES[status],
      message,
      ...(reason === 'unknown-item' && { details: { error_code: 'thread_not_found' } }),
    },
    request_id: null,
  }),
  count: { path: '/messages/count_tokens', reply: (input_tokens) => ({ input_tokens }) },
};

const TYPES = { 400: 'invalid_request_error', 404: 'not_found_error', 413: 'request_too_large' } as const;

function read(asked: z.output<typeof REQUEST>, recorded: RecordedCalls): AgentRequest {
  refuseFields({
    mcp_servers: (asked.mcp_servers ?? []).length > 0,
    compaction: asked.compaction != null,
  });
  const flags = flagLeftOut(asked, REQUEST, { output_config: ['format'], tool_choice: ['type', 'name'] });
  const form = asked.output_config?.format
    ? formAsked(asked.output_config.format, 'output_config.format', asked)
    : formAsked(asked.output_format, 'output_format', asked);
  const choice = typeof asked.tool_choice === 'string' ? { type: asked.tool_choice } : asked.tool_choice;
  const stop = asked.stop_sequences ?? [];
  const system = systemOf(asked.system);
  const earlier =
    asked.thread?.type === 'continue'
      ? continueFromReply(asked.thread.previous_message_id, 'thread.previous_message_id', recorded)
      : undefined;
  const tools = readFunctions(
    asked.tools,
    ({ type = 'custom', name, description = '', input_schema }) =>
      type === 'custom' && name !== undefined ? { name, description, parameters: input_schema ?? {} } : undefined,
    flags,
  );
  return {
    messages: [
      ...(earlier?.messages ?? []),
      ...(system === '' ? [] : [{ role: 'system' as const, text: system }]),
      ...asked.messages.flatMap(({ role, content }, i) => {
        const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
        return role === 'assistant' ? [assistantRead(blocks, i)] : turnRead(role, blocks, i);
      }),
    ],
    tools: asked.tools == null ? (earlier?.tools ?? []) : tools,
    limits: {
      ...(asked.max_tokens != null && { maxTokens: asked.max_tokens }),
      ...(stop.length > 0 && { stop }),
      ...(choice?.type === 'none' && { toolChoice: 'none' }),
    },
    ...asksOf(form, callAsked(asked.tool_choice)),
    stream: asked.stream === true,
    flags,
  };
}

/** Claude Code's first block is for billing: its text changes between calls of one conversation. */
function systemOf(system: z.output<typeof REQUEST>['system']): string {
  if (typeof system === 'string') return system;
  return joinTexts(
    (system ?? []).filter(({ text }) => !text?.startsWith('x-anthropic-billing-header:')),
    'system',
  );
}

/** Results of tools, and what stands around them, each as a message. */
function turnRead(role: 'user' | 'system', blocks: readonly Block[], i: number): AgentMessage[] {
  const read: AgentMessage[] = [];
  let texts: Block[] = [];
  const flush = () => {
    if (texts.length > 0) read.push({ role, text: joinTexts(texts, `messages[${i}].content`) });
    texts = [];
  };
  for (const [j, block] of blocks.entries()) {
    if (block.type !== 'tool_result') texts.push(block);
    else {
      flush();
      const text = resultTextOf(block.content, `messages[${i}].content[${j}].content`);
      const { tool_use_id: callId, is_error: failed } = block;
      read.push({ role: 'tool', text, ...(callId !== undefined && { callId }), ...(failed && { failed }) });
    }
  }
  flush();
  return read;
}

function assistantRead(blocks: readonly Block[], i: number): AgentMessage {
  const of = (type: string) => blocks.filter((block) => block.type === type);
  const alien = blocks.findIndex(({ type }) => !KNOWN.has(type));
  if (alien >= 0) {
    const field = `messages[${i}].content[${alien}].type`;
    throw new RefusedRequest('unsupported-field', field, `is ${JSON.stringify(blocks[alien]!.type)}: leave it out`);
  }
  const reasoning = of('thinking')
    .map(({ thinking = '' }) => thinking)
    .join('\n');
  const calls = of('tool_use').map(({ id = '', name = '', input = {} }) => ({ id, name, arguments: input }));
  const ids = of('thinking').flatMap(({ signature }) => signature ?? []);
  return {
    role: 'assistant',
    text: joinTexts(of('text'), ''),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { calls }),
    ...(ids.length > 0 && { ids }),
  };
}

const KNOWN: ReadonlySet<string> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

const head = ({ call, model }: AgentReply): JsonObject => ({
  id: itemId('msg', call),
  type: 'message',
  role: 'assistant',
  model,
  container: null,
});

function blocksOf({ call, reasoning, text, calls }: AgentReply): JsonObject[] {
  return [
    ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: itemId('sig', call) }]),
    ...(text === '' && calls.length > 0 ? [] : [{ type: 'text', text }]),
    ...calls.map(({ name, arguments: given }, i) => ({
      type: 'tool_use',
      id: itemId('toolu', call, i),
      name,
      input: jsonOrText(given),
    })),
  ];
}

function stopOf({ finish, calls, stopped }: AgentReply): JsonObject {
  const natural = calls.length > 0 ? 'tool_use' : stopped === null ? 'end_turn' : 'stop_sequence';
  return { stop_reason: finish === 'length' ? 'max_tokens' : natural, stop_sequence: stopped };
}

const usageOf = ({ usage: { input, cached, output } }: AgentReply): JsonObject => ({
  input_tokens: input - cached,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  server_tool_use: null,
  service_tier: 'standard',
});

function events(reply: AgentReply): readonly StreamEvent[] {
  const event = (name: string, data: JsonObject): StreamEvent => ({ name, data: { type: name, ...data } });
  const message = {
    ...head(reply),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usageOf(reply), output_tokens: 0 },
  };
  return [
    event('message_start', { message }),
    ...blocksOf(reply).flatMap((block, index) => {
      const { empty, deltas } = inPieces(block);
      return [
        event('content_block_start', { index, content_block: empty }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ];
    }),
    event('message_delta', { delta: stopOf(reply), usage: usageOf(reply) }),
    event('message_stop', {}),
  ];
}

function inPieces(block: JsonObject): { readonly empty: JsonObject; readonly deltas: readonly JsonObject[] } {
  const { thinking = '', signature = '', text = '' } = block;
  switch (block['type']) {
    case 'thinking':
      return {
        empty: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      };
    case 'text':
      return { empty: { ...block, text: '' }, deltas: [{ type: 'text_delta', text }] };
    default: {
      const partial_json = JSON.stringify(block['input'] as Json);
      return { empty: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] };
    }
  }
}
