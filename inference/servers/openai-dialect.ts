// The parameters that an endpoint of chat completions takes, and in which form: learned from its refusals, at the start and
// at any later request. A change counts only if the request is then answered.

import type { ReplyForm, ToolChoice } from '../../domain/agent/index.ts';
import { messageCalls, templateTools } from '../../domain/context/tool-extension.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { GivenCall, ToolSchema } from '../../domain/tools/tool.ts';
import type { TextMessage } from '../backend.ts';
import { halfRoom, refusalIn, type Room, roomIn } from '../budget-room.ts';
import type { ThoughtsField } from './openai-reply.ts';

export interface OpenaiDialect {
  readonly budget: 'max_completion_tokens' | 'max_tokens';
  /** The endpoint's own limit of an answer; null: it has named none. */
  readonly mostNewTokens: number | null;
  readonly logprobs: boolean;
  /** Seeds have 53 bits; many endpoints take 31. */
  readonly seed: 'whole' | 'in 31 bits' | 'none';
  readonly temperature: boolean;
  readonly topP: boolean;
  /** Sent to a server that would otherwise use the model's own top_k and reject it. */
  readonly topK: -1 | null;
  /** The field in which thoughts go back with the calls that they led to; null: in none. */
  readonly thoughts: ThoughtsField | null;
  /** Whether an endpoint's own fields of calls go back with them. */
  readonly callFields: boolean;
  /** Stands in place of the text of an empty answer. */
  readonly nothing: '' | '(no answer)';
  readonly stream: boolean;
}

export const OPENAI_DIALECT: OpenaiDialect = {
  ...{ budget: 'max_tokens', mostNewTokens: null, logprobs: true, seed: 'whole', temperature: true, topP: true },
  ...{ topK: null, thoughts: 'reasoning_content', callFields: true, nothing: '', stream: false },
};

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly TextMessage[];
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly form?: ReplyForm | undefined;
  readonly maxNewTokens: number;
  readonly seed: number;
  readonly temperature: number;
  readonly topP: number;
  /** Variables of the chat template; servers of open models take them. */
  readonly variables?: JsonObject | null | undefined;
}

const IN_31_BITS = 2 ** 31;

export function requestBody(question: ChatRequest, dialect: OpenaiDialect): object {
  const { model, messages, tools = [], toolChoice, form, maxNewTokens, seed, temperature, topP, variables } = question;
  return {
    model,
    messages: messages.map((message) => sentMessage(message, dialect)),
    ...(tools.length > 0 && { tools: templateTools(tools) }),
    ...(tools.length > 0 && toolChoice && { tool_choice: sentChoice(toolChoice) }),
    ...(form && { response_format: responseFormat(form) }),
    [dialect.budget]: maxNewTokens,
    ...(dialect.temperature ? { temperature } : {}),
    ...(dialect.topP ? { top_p: topP } : {}),
    ...(dialect.seed === 'none' ? {} : { seed: dialect.seed === 'whole' ? seed : seed % IN_31_BITS }),
    ...(dialect.logprobs ? { logprobs: true } : {}),
    ...(variables ? { chat_template_kwargs: variables } : {}),
    ...(dialect.topK === null ? {} : { top_k: dialect.topK }),
    ...(dialect.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

const sentChoice = (choice: ToolChoice) =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };

const responseFormat = ({ kind, value: schema, name = 'reply', description, strict }: ReplyForm) =>
  kind === 'schema'
    ? {
        type: 'json_schema',
        json_schema: { name, ...(description && { description }), schema, ...(strict !== undefined && { strict }) },
      }
    : { type: 'json_object' };

function sentMessage(
  { role, content, toolCalls, tool_call_id, reasoning }: TextMessage,
  dialect: OpenaiDialect,
): object {
  if (tool_call_id !== undefined) return { role, content, tool_call_id };
  const isNothing = role === 'assistant' && content.trim() === '' && !toolCalls;
  return {
    role,
    content: isNothing ? dialect.nothing : content,
    ...(toolCalls && { tool_calls: messageCalls(toolCalls.map((call) => sentCall(call, dialect))) }),
    ...(reasoning && dialect.thoughts && { [dialect.thoughts]: reasoning }),
  };
}

/** Strict servers refuse a conversation in which arguments are no object: what the model wrote goes back within one. */
function sentCall({ id, name, arguments: text, more }: GivenCall, { callFields }: OpenaiDialect): GivenCall {
  const whole = text === '' ? '{}' : isObject(text) ? text : JSON.stringify({ text });
  return { id, name, arguments: whole, ...(callFields && more && { more }) };
}

function isObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A size is refused, and not a parameter. */
const SIZE = /too (?:large|many|long)|at most|exceed|greater|less than|larger|maximum|range|limit/i;

/** No name of a model, such as `doubao-seed-1.6`. */
const isOfSeed = (words: string): boolean => /(?<![-\w])(?:\w+_)?seed\b(?!-)/i.test(words);

/** The changes that a server's complaint about one parameter causes, tried in this order. */
const COMPLAINTS: readonly (readonly [
  (words: string) => boolean,
  (dialect: OpenaiDialect) => Partial<OpenaiDialect>,
])[] = [
  [
    (words) => /max_completion_tokens|max_tokens/.test(words) && !SIZE.test(words),
    () => ({ budget: 'max_completion_tokens' }),
  ],
  [(words) => /logprobs/.test(words), () => ({ logprobs: false })],
  [isOfSeed, ({ seed }) => ({ seed: seed === 'whole' ? 'in 31 bits' : seed })],
  [isOfSeed, () => ({ seed: 'none' })],
  // SGLang reads generation_config.json, in which top_k 0 means none, and rejects that value.
  [(words) => /top_k/.test(words), () => ({ topK: -1 })],
  // Models that think take neither, and some models only one of the two.
  [(words) => /top_p/.test(words), () => ({ topP: false })],
  [(words) => /temperature/.test(words), () => ({ temperature: false })],
  [
    (words) => /\breasoning(?:_content)?\b/.test(words),
    ({ thoughts }) => ({ thoughts: thoughts === 'reasoning_content' ? 'reasoning' : null }),
  ],
  [
    (words) =>
      /\b(?:extra|additional|unknown|unexpected|unrecogni[sz]ed|unsupported|not (?:permitted|allowed))\b/i.test(words),
    () => ({ callFields: false }),
  ],
  [(words) => /empty|blank|whitespace|content/i.test(words), () => ({ nothing: '(no answer)' })],
  [(words) => /\bstream/i.test(words), () => ({ stream: true })],
];

/** A dialect, and a budget of new tokens. */
export interface Form {
  readonly dialect: OpenaiDialect;
  readonly most: number;
}

/** The form in which to ask again; null: no form will do. `ask` makes the request: a change must show there. */
export function afterRefusal(error: unknown, { dialect, most }: Form, ask: (form: Form) => object): Form | null {
  const refusal = refusalIn(error);
  if (!refusal) return null;
  const { words, reason } = refusal;
  const room = roomIn(words, most);
  if (room) return within(room, dialect);
  const now = JSON.stringify(ask({ dialect, most }));
  const changed = COMPLAINTS.filter(([isOf]) => reason === 'request-refused' && isOf(words));
  const next = changed
    .map(([, change]) => ({ dialect: { ...dialect, ...change(dialect) }, most }))
    .find((form) => JSON.stringify(ask(form)) !== now);
  if (next) return next;
  const half = halfRoom(words, most);
  return half ? within(half, dialect) : null;
}

/** Null: the conversation alone does not fit. */
function within({ most, own }: Room, dialect: OpenaiDialect): Form | null {
  if (most === 0) return null;
  return { most, dialect: own ? { ...dialect, mostNewTokens: most } : dialect };
}
