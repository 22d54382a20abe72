// A reply to chat completions, read: one choice, the first. An answer is taken however it is written: as a text or as parts,
// with any word for its end or none, with counts and logprobs that may be of no use and are then left out. A choice that
// holds no answer, and no end or one by an error, is a failure of the server. Names are compared by openai.ts, which knows what was asked.

import { z } from 'zod';

import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { Finish, Usage } from '../../domain/rollout/turn.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { GivenCall } from '../../domain/tools/tool.ts';
import { parseServerReply } from '../fleet/server-backend.ts';
import { badReply, complaintError, type RequestPlace } from '../http/http-errors.ts';
import { flawOfLogprob } from '../possible.ts';
import { countsOf, VLLM_USAGE } from './vllm-protocol.ts';

/** Some servers leave the id out, some give the arguments as an object, and some add fields of their own. */
const ToolCall = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  function: z.object({
    name: z.string(),
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
});

const Message = z.object({
  role: z.unknown().optional(),
  content: z.unknown().optional(),
  refusal: z.unknown().optional(),
  reasoning_content: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  tool_calls: z.array(ToolCall).nullish(),
});
const Logprobs = z.object({ content: z.array(z.object({ token: z.string(), logprob: z.number().nullable() })) });

const Completion = z.object({
  model: z.string().nullish().catch(null),
  usage: VLLM_USAGE.catch(null),
  choices: z
    .array(
      z.object({
        message: Message.nullish(),
        text: z.unknown().optional(),
        finish_reason: z.unknown().optional(),
        logprobs: z.unknown().optional(),
      }),
    )
    .min(1),
});

interface SaidToken {
  readonly token: string;
  readonly logprob: number;
}

export interface ReadCompletion {
  /** Empty: the model answered nothing, or a filter withheld it. */
  readonly text: string;
  readonly finish: Finish;
  /** Empty if it sent none, or none of this text. */
  readonly tokens: readonly SaidToken[];
  /** The model that the reply names. */
  readonly name: string | null;
  /** Null: nothing was counted. */
  readonly usage: Usage | null;
  /** Empty: the model said no thought. */
  readonly reasoning: string;
  /** The field in which the thoughts came. */
  readonly thoughtsIn: ThoughtsField | null;
  readonly toolCalls: readonly GivenCall[];
}

export type ThoughtsField = 'reasoning_content' | 'reasoning';

/** An answer of nothing: a server says as a failure that a filter withheld it, or that thoughts used up its budget. */
export const nothingSaid = (finish: Finish): ReadCompletion => ({
  ...{ text: '', finish, tokens: [], name: null, usage: null, reasoning: '', thoughtsIn: null, toolCalls: [] },
});

/** The words of OpenAI, vLLM, SGLang, TGI and several providers. A filter cuts an answer short, as an abort does. */
const FINISHES: readonly (readonly [RegExp, Finish])[] = [
  [/^(?:stop|eos|eos_token|stop_sequence|end_turn|complete|tool_calls?|tool_use|function_call)$/, 'stop'],
  [
    /^(?:length|max_(?:output_|new_)?tokens|(?:model_)?length|model_context_window_exceeded|.*context.*(?:length|window).*)$/,
    'length',
  ],
  [
    /^(?:abort(?:ed)?|cancel+ed|error|refusal|content_?filter|safety|sensitive|recitation|blocklist|prohibited_content)\b/,
    'abort',
  ],
];
/** The server broke off, for a cause that it names. */
const FAILED = /^(?:.*_error|insufficient_system_resource)$/;

export function readCompletion(reply: unknown, place: RequestPlace): ReadCompletion {
  const { model, usage: used, choices } = parseServerReply(Completion, reply, place);
  const { message, text: plain, finish_reason: said, logprobs } = choices[0]!;
  const end = typeof said === 'string' ? said.toLowerCase() : '';
  const failed = (what: string) =>
    complaintError(200, {}, { words: what, codes: '', status: null, meaning: null }, place);
  if (!message && plain == null && end === '') throw failed('a choice without a message and without an end');
  const role = message?.role ?? 'assistant';
  if (['user', 'system', 'developer', 'tool'].includes(String(role)))
    throw badReply(`gave a message of the role ${String(role)}`, place, { flaw: 'choices.0.message.role of another' });
  const finish = FINISHES.find(([words]) => words.test(end))?.[1] ?? 'unknown';
  const parts = partsOf(message?.content ?? plain);
  const thoughtsIn = (['reasoning_content', 'reasoning'] as const).find((field) => textOf(message?.[field]) !== '');
  // A refusal is the model's answer, in another field.
  const text = parts.text || textOf(message?.refusal);
  const isNothing = text === '' && !message?.tool_calls?.length;
  if (FAILED.test(end) || (isNothing && end === 'error'))
    throw failed(`it ended its answer by ${JSON.stringify(said)}`);
  return {
    ...{ text, finish, tokens: saidTokens(logprobs, text), name: model || null, usage: usageOf(used) },
    reasoning: thoughtsIn ? textOf(message?.[thoughtsIn]) : parts.thoughts,
    thoughtsIn: thoughtsIn ?? null,
    toolCalls: givenCalls(message?.tool_calls ?? []),
  };
}

const THOUGHT = /think|thought|reason/i;

/** The text and the thoughts in a message's content: a text, or a list of parts. Parts of other kinds hold none. */
function partsOf(content: unknown): { readonly text: string; readonly thoughts: string } {
  if (!Array.isArray(content)) return { text: textOf(content), thoughts: '' };
  const parts = content as readonly unknown[];
  const isThought = (part: unknown) => THOUGHT.test(String((part as { type?: unknown } | null)?.type ?? ''));
  const joined = (some: readonly unknown[]) => some.map(textOf).join('');
  return { text: joined(parts.filter((part) => !isThought(part))), thoughts: joined(parts.filter(isThought)) };
}

const TEXTS = ['text', 'thinking', 'reasoning', 'refusal', 'content', 'value', 'summary'] as const;

/** The text in a field that may hold a text, an object with one, or a list of such. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value !== 'object' || value === null) return '';
  const fields = value as Readonly<Record<string, unknown>>;
  return textOf(TEXTS.map((name) => fields[name]).find((inner) => inner != null));
}

/** No fields of the endpoint's own. */
const OURS: ReadonlySet<string> = new Set(['id', 'type', 'index']);

/** A call without an id, or with that of an earlier one, gets the number of its place. */
function givenCalls(calls: readonly z.infer<typeof ToolCall>[]): GivenCall[] {
  const ids = calls.map(({ id }) => String(id ?? '').toWellFormed());
  return calls.map((call, at) => {
    const isOwn = ids[at] !== '' && ids.indexOf(ids[at]!) === at;
    let id = isOwn ? ids[at]! : `call_${at + 1}`;
    while (!isOwn && ids.includes(id)) id += '_';
    return givenCall(call, id);
  });
}

function givenCall({ function: called, ...own }: z.infer<typeof ToolCall>, id: string): GivenCall {
  const { name, arguments: given } = called;
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  const more = Object.entries(own).filter(([key, value]) => !OURS.has(key) && value != null);
  return {
    ...{ id, name: name.toWellFormed(), arguments: text.toWellFormed() },
    ...(more.length > 0 && { more: wellFormed(Object.fromEntries(more)) }),
  };
}

/** Records hold no half of a character. */
const wellFormed = (fields: object): JsonObject =>
  JSON.parse(
    JSON.stringify(fields, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)),
  ) as JsonObject;

/** No answer has so many. */
const MOST_TOKENS = 1e9;

/** The counts that can be. A count that cannot be, or a part that is said to be greater than its whole, is not known. */
function usageOf(used: z.infer<typeof VLLM_USAGE>): Usage | null {
  const counts = Object.entries(countsOf(used)).filter(
    ([, value]) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS,
  );
  const { prompt, completion, total, cached, reasoning } = Object.fromEntries(counts) as Record<
    string,
    number | undefined
  >;
  const within = (part: number | undefined, whole: number | undefined) =>
    part !== undefined && whole !== undefined && part > whole ? undefined : part;
  // Some providers leave the tokens of thoughts out of completion_tokens, and count them in the total.
  const output = prompt !== undefined && total !== undefined ? Math.max(completion ?? 0, total - prompt) : completion;
  const known = { input: prompt, cached: within(cached, prompt), output, reasoning: within(reasoning, output) };
  const said = Object.entries(known).filter(([, value]) => value !== undefined);
  return said.length === 0 ? null : (Object.fromEntries(said) as Usage);
}

/** The tokens of the text; none if they have a logprob that cannot be, or are of another text. */
function saidTokens(logprobs: unknown, text: string): readonly SaidToken[] {
  const tokens = Logprobs.safeParse(logprobs).data?.content ?? [];
  const known = tokens.flatMap(({ token, logprob }) => (logprob === null ? [] : [{ token, logprob }]));
  return known.every(({ logprob }) => flawOfLogprob(logprob) === null) && sayText(tokens, text) ? known : [];
}

/** Part of a character, or bytes in a spelling of the server's own: such tokens cannot be compared with a text. */
const UNSPELLED = /\uFFFD|\\x[0-9a-f]{2}|<0x[0-9a-f]{2}>|[ĠĊ▁]|^token_id:\d+$/i;

/**
 * Whether the tokens hold the text. They may hold more: reasoning that the server keeps apart, special tokens. White
 * space is not compared, because servers cut it.
 */
function sayText(tokens: readonly { readonly token: string }[], text: string): boolean {
  if (tokens.length === 0 || tokens.some(({ token }) => UNSPELLED.test(token))) return true;
  const bare = (words: string) => words.replace(/\s+/g, '');
  return bare(tokens.map(({ token }) => token).join('')).includes(bare(text));
}

/** The identity of a server of text: the name that it gives its model. */
export const namedOnly = (name: string): ModelIdentity => ({
  ...{ name, tokenizer: null, template: null, weights: null, canary: null },
});
