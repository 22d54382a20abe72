// OpenAI's responses, read. A request may name items and whole responses of ours instead of repeating them.

import { z } from 'zod';
import {
  type AgentMessage,
  type AgentRequest,
  callNamedBy,
  isBeginningOf,
  itemId,
  placeInId,
  replyMessage,
} from '../../domain/agent/index.ts';
import { asksOf, callAsked, FORM_FIELDS, formAsked, FORMAT, TOOL_CHOICE } from './asks.ts';
import {
  ARGUMENTS,
  codeOf,
  readCallArguments,
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
  joinTexts,
} from './dialect.ts';
import { flagLeftOut } from './left-out.ts';
import { responseEvents, wholeResponse } from './response-reply.ts';

const TOOLS = z.array(
  z.looseObject({
    type: z.string(),
    name: z.string().optional(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
  }),
);

const ITEM = z.looseObject({
  type: z.string().optional(),
  id: z.string().nullish(),
  role: z.enum(['system', 'developer', 'user', 'assistant']).optional(),
  content: CONTENT,
  summary: PARTS.nullish(),
  encrypted_content: z.string().nullish(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: ARGUMENTS.optional(),
  tools: TOOLS.nullish(),
  output: CONTENT,
});
type Item = z.output<typeof ITEM>;

const REQUEST = z.looseObject({
  input: z.union([z.string(), z.array(ITEM)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  tools: TOOLS.nullish(),
  tool_choice: TOOL_CHOICE,
  ...FORM_FIELDS,
  max_output_tokens: TOKEN_LIMIT,
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  conversation: z.unknown().optional(),
  prompt: z.unknown().optional(),
  top_logprobs: z.int().min(0).nullish(),
  text: z.looseObject({ format: FORMAT.nullish() }).nullish(),
});

export const responsesDialect: Dialect = {
  path: '/responses',
  schema: REQUEST,
  read: (asked, recorded) => read(asked as z.output<typeof REQUEST>, recorded),
  message: (reply) => replyMessage(reply),
  whole: wholeResponse,
  events: responseEvents,
  refusal: (refused) => ({
    error: { message: refused.message, type: 'invalid_request_error', param: refused.field, code: codeOf(refused) },
  }),
  count: {
    path: '/responses/input_tokens',
    reply: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  },
};

/** The item of a newer Codex, at the head of its conversation, that holds tools and no message. */
const MORE_TOOLS = 'additional_tools';

function read(asked: z.output<typeof REQUEST>, recorded: RecordedCalls): AgentRequest {
  refuseFields({
    background: asked.background === true,
    conversation: asked.conversation != null,
    prompt: asked.prompt != null,
    top_logprobs: (asked.top_logprobs ?? 0) > 0,
  });
  const flags = flagLeftOut(asked, REQUEST, { text: ['format'], reasoning: [] });
  const items = typeof asked.input === 'string' ? [{ role: 'user' as const, content: asked.input }] : asked.input;
  const more = items.flatMap((item) => (item.type === MORE_TOOLS ? (item.tools ?? []) : []));
  return {
    messages: [
      ...(asked.instructions ? [{ role: 'system' as const, text: asked.instructions }] : []),
      ...earlierMessages(asked.previous_response_id, recorded),
      ...messagesOf(items, recorded),
    ],
    ...(asked.instructions && { instructed: true }),
    tools: readFunctions(
      [...(asked.tools ?? []), ...more],
      ({ type, name, description, parameters }) =>
        type === 'function' && name !== undefined
          ? { name, description: description ?? '', parameters: parameters ?? {} }
          : undefined,
      flags,
    ),
    limits: {
      ...(asked.max_output_tokens != null && { maxTokens: asked.max_output_tokens }),
      ...(asked.tool_choice === 'none' && { toolChoice: 'none' }),
    },
    ...asksOf(formAsked(asked.text?.format, 'text.format', asked), callAsked(asked.tool_choice)),
    stream: asked.stream === true,
    flags,
  };
}

/** The conversation up to a response of ours, without its instructions: they hold for one response. */
function earlierMessages(id: string | null | undefined, recorded: RecordedCalls): readonly AgentMessage[] {
  if (id == null) return [];
  const { messages, instructed } = continueFromReply(id, 'previous_response_id', recorded);
  return messages.slice(instructed ? 1 : 0);
}

/** Items of one reply, one behind the other, are one message. */
function messagesOf(items: readonly Item[], recorded: RecordedCalls): AgentMessage[] {
  const groups: AgentMessage[][] = [];
  for (const [i, item] of items.entries()) {
    if (item.type === MORE_TOOLS) continue;
    const read = itemRead(item, i, recorded);
    const open = groups.at(-1);
    const last = open?.at(-1);
    if (read.role === 'assistant' && last?.role === 'assistant' && continues(last, read)) open!.push(read);
    else groups.push([read]);
  }
  const messages = groups.map(joined);
  // A client that saw a reply cut keeps its first items, and adds the whole reply behind them.
  return messages.filter((message, i) => {
    const next = messages[i + 1];
    return message.role !== 'assistant' || next?.role !== 'assistant' || !isBeginningOf(message, next);
  });
}

/** A reply holds first its reasoning, then its text, then its calls. */
function continues(last: AgentMessage, next: AgentMessage): boolean {
  if (next.calls) return true;
  if (last.calls) return false;
  return next.reasoning === undefined ? last.text === '' : false;
}

function joined(group: readonly AgentMessage[]): AgentMessage {
  const [one, ...more] = group;
  if (more.length === 0) return one!;
  const calls = group.flatMap((item) => item.calls ?? []);
  const ids = group.flatMap((item) => item.ids ?? []);
  const text = group.map((item) => item.text).join('');
  return Object.assign({}, ...group, { text, ...(calls.length > 0 && { calls }), ids }) as AgentMessage;
}

function itemRead(item: Item, i: number, recorded: RecordedCalls): AgentMessage {
  const { id, call_id: callId, encrypted_content: sealed } = item;
  const ids = [...(id == null ? [] : [id]), ...(sealed == null ? [] : [sealed])];
  switch (item.type ?? (item.role && 'message')) {
    case 'message': {
      const text = joinTexts(item.content, `input[${i}].content`);
      if (item.role === 'assistant') return { role: 'assistant', text, ids };
      return { role: item.role === 'user' ? 'user' : 'system', text };
    }
    case 'reasoning': {
      const text = joinTexts(item.content, `input[${i}].content`) || joinTexts(item.summary, `input[${i}].summary`);
      return { role: 'assistant', text: '', reasoning: text, ids };
    }
    case 'function_call': {
      const called = { id: callId ?? '', field: `input[${i}].arguments` };
      const given = readCallArguments(item.arguments ?? '', called, recorded);
      const call = { id: called.id, name: item.name ?? '', arguments: given };
      return { role: 'assistant', text: '', calls: [call], ids };
    }
    case 'function_call_output': {
      const text = resultTextOf(item.output, `input[${i}].output`);
      return { role: 'tool', text, ...(callId !== undefined && { callId }) };
    }
    case 'item_reference':
      return referred(id ?? '', i, recorded);
    default: {
      const said = JSON.stringify(item.type);
      throw new RefusedRequest('unsupported-field', `input[${i}].type`, `is ${said}: leave such items out`);
    }
  }
}

/** One item of a reply of ours. */
function referred(id: string, i: number, recorded: RecordedCalls): AgentMessage {
  const call = callNamedBy(id);
  const reply = call === undefined ? undefined : recorded(call)?.reply;
  const known = { role: 'assistant', text: '', ids: [id] } as const;
  const called = reply?.calls?.[placeInId(id)];
  if (reply && id === itemId('rs', call!)) return { ...known, reasoning: reply.reasoning ?? '' };
  if (reply && id === itemId('msg', call!)) return { ...known, text: reply.text };
  if (called && id === itemId('fc', call!, placeInId(id))) return { ...known, calls: [called] };
  throw new RefusedRequest('unknown-item', `input[${i}].id`, `names no item of this rollout: ${JSON.stringify(id)}`);
}
