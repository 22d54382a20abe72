// A reply to chat completions, read and checked: one choice, the first, of the assistant, with a known finish reason,
// possible counts and logprobs. Names and tokens are compared by openai.ts, which knows what was asked.

import { z } from 'zod';

import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { Finish, Usage } from '../../domain/rollout/turn.ts';
import type { GivenCall } from '../../domain/tools/tool.ts';
import { flawOfCounts, type ReportedCounts } from '../counts.ts';
import { parseReply } from '../fleet/server-backend.ts';
import { badReply, type Place } from '../http/http-errors.ts';
import { flawOfLogprob } from '../possible.ts';
import { countsOf, index, usage } from './vllm-protocol.ts';

/** Some servers leave the id out, and some give the arguments as an object. */
const ToolCall = z.object({
  id: z.string().nullish(),
  function: z.object({
    name: z.string(),
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
});

const Completion = z.object({
  model: z.string().nullish(),
  usage,
  choices: z
    .array(
      z.object({
        index,
        message: z.object({
          role: z.literal('assistant').nullish(),
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z.array(ToolCall).nullish(),
        }),
        finish_reason: z.string(),
        logprobs: z
          .object({ content: z.array(z.object({ token: z.string(), logprob: z.number().nullable() })).nullish() })
          .nullish(),
      }),
    )
    .length(1),
});

export interface SaidToken {
  readonly token: string;
  readonly logprob: number | null;
}

export interface ReadCompletion {
  /** Null if there is none. */
  readonly text: string | null;
  readonly finish: Finish;
  readonly tokens: readonly SaidToken[];
  /** The model that the reply names. */
  readonly name: string | null;
  /** Null: nothing was counted. */
  readonly usage: Usage | null;
  /** Empty: the model said no thought. */
  readonly reasoning: string;
  readonly toolCalls: readonly GivenCall[];
}

/** As OpenAI, vLLM, SGLang, TGI and several providers write them. `content_filter` cuts an answer short, as an abort does. */
const FINISHES: ReadonlyMap<string, Finish> = new Map<string, Finish>([
  ...['stop', 'eos', 'eos_token', 'stop_sequence', 'end_turn', 'tool_calls', 'tool_use', 'function_call'].map(
    (name) => [name, 'stop'] as const,
  ),
  ...['length', 'max_tokens', 'model_length'].map((name) => [name, 'length'] as const),
  ...['content_filter', 'abort'].map((name) => [name, 'abort'] as const),
]);

export function readCompletion(reply: unknown, place: Place): ReadCompletion {
  const { model, usage: used, choices } = parseReply(Completion, reply, place);
  const { message, finish_reason, logprobs } = choices[0]!;
  const finish = FINISHES.get(finish_reason.toLowerCase());
  if (finish === undefined) {
    const said = JSON.stringify(finish_reason).slice(0, 60);
    throw badReply(`ended for a reason that is unknown here: ${said}`, place, { flaw: 'an unknown finish_reason' });
  }
  const counts = countsOf(used);
  const miscounted = flawOfCounts(counts, { sent: null, received: null });
  if (miscounted) throw badReply(miscounted.what, place, miscounted);
  const tokens = logprobs?.content ?? [];
  for (const [i, { logprob }] of tokens.entries()) {
    const flaw = logprob === null ? null : flawOfLogprob(logprob);
    if (flaw === null) continue;
    const what = `gave a logprob that cannot be: ${logprob} (${flaw}), of token ${i + 1}`;
    throw badReply(what, place, { reason: 'bad-logprobs', flaw });
  }
  // A refusal is the model's answer, in another field; a model that thought until its limit, or thought alone, answered nothing.
  const { content, refusal } = message;
  const reasoning = message.reasoning_content || message.reasoning || '';
  const toolCalls = (message.tool_calls ?? []).map(givenCall);
  const text = content || refusal || (finish === 'length' || reasoning || toolCalls.length > 0 ? '' : null);
  return { text, finish, tokens, name: model || null, usage: usageOf(counts), reasoning, toolCalls };
}

function givenCall({ id, function: { name, arguments: given } }: z.infer<typeof ToolCall>, place: number): GivenCall {
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  return { id: id?.toWellFormed() || `call_${place + 1}`, name: name.toWellFormed(), arguments: text.toWellFormed() };
}

/** A part that is said to be greater than its whole is not known. */
const within = (part: number | null | undefined, whole: number | null | undefined) =>
  part != null && whole != null && part > whole ? null : part;

function usageOf(counts: ReportedCounts): Usage | null {
  const { prompt, completion, total, cached, reasoning } = counts as Readonly<
    Record<keyof ReportedCounts, number | null | undefined>
  >;
  // Some providers leave the tokens of thoughts out of completion_tokens, and count them in the total.
  const output = prompt != null && total != null ? Math.max(completion ?? 0, total - prompt) : completion;
  const usage = { input: prompt, cached: within(cached, prompt), output, reasoning: within(reasoning, output) };
  const said = Object.entries(usage).filter(([, value]) => value != null);
  return said.length === 0 ? null : (Object.fromEntries(said) as Usage);
}

/** Part of a character, or bytes in a spelling of the server's own: such tokens cannot be compared with a text. */
const UNSPELLED = /\uFFFD|\\x[0-9a-f]{2}|<0x[0-9a-f]{2}>|[ĠĊ▁]|^token_id:\d+$/i;

/**
 * Whether the tokens hold the text. They may hold more: reasoning that the server keeps apart, special tokens. White
 * space is not compared, because servers cut it.
 */
export function sayText(tokens: readonly SaidToken[], text: string): boolean {
  if (tokens.length === 0 || tokens.some(({ token }) => UNSPELLED.test(token))) return true;
  const bare = (words: string) => words.replace(/\s+/g, '');
  return bare(tokens.map(({ token }) => token).join('')).includes(bare(text));
}

/** The identity of a server of text: the name that it gives its model. */
export const namedOnly = (name: string): ModelIdentity => ({
  ...{ name, tokenizer: null, template: null, probe: null, weights: null, canary: null },
});
