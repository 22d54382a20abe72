// What is read of SGLang's replies: who it is, what it takes, and an answer of /generate.

import { z } from 'zod';
import type { ReplyForm } from '../../domain/agent/index.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { Peek } from '../fleet/logprob-canary.ts';
import { numbers, numbersByToken, triples, triplesByToken } from '../http/reply-lists.ts';
import { badReply, type RequestPlace } from '../http/http-errors.ts';
import { labelOf } from './version-spans.ts';

export const Info = z.object({
  served_model_name: z.string().nullish(),
  model_path: z.string().nullish(),
  tokenizer_path: z.string().nullish(),
  weight_version: z.union([z.string(), z.number()]).nullish(),
});
export const Server = z.object({
  max_req_input_len: z.int().positive().nullish(),
  enable_deterministic_inference: z.boolean().nullish(),
  version: z.string().nullish(),
  sampling_mask_max_tokens: z.int().positive().nullish(),
  enable_return_routed_experts: z.boolean().nullish(),
});
export const Models = z.object({
  data: z.array(z.object({ id: z.string(), max_model_len: z.int().positive().nullish() })).min(1),
});

export const GenerateBody = z.object({
  output_ids: numbers.nullish(),
  meta_info: z.object({
    id: z.string().nullish(),
    finish_reason: z.object({
      type: z.enum(['stop', 'length', 'abort']),
      matched: z.unknown().optional(),
      message: z.string().nullish(),
      status_code: z.number().nullish(),
    }),
    weight_version: z.union([z.string(), z.number()]).nullish(),
    weight_versions: z
      .array(z.object({ version: z.union([z.string(), z.number()]).nullish(), start: z.number(), end: z.number() }))
      .nullish(),
    prompt_tokens: z.unknown().optional(),
    completion_tokens: z.unknown().optional(),
    cached_tokens: z.unknown().optional(),
    output_token_logprobs: triples.nullish(),
    output_top_logprobs: triplesByToken.nullish(),
    output_token_sampling_mask: numbersByToken.nullish(),
    output_token_sampling_logprobs: numbers.nullish(),
    routed_experts: z.string().nullish(),
  }),
});
export type GenerateBody = z.infer<typeof GenerateBody>;
/** Logprobs of the context, if they were requested and the server sent them. */
export const Given = z.object({ meta_info: z.object({ input_token_logprobs: triples.nullish() }) });

/**
 * SGLang reserves two positions and silently cuts a budget that would use them. Its max_req_input_len is already six
 * less than the model's length, or than the cache's if that is smaller.
 */
export function usableLength(
  modelLength: number | null | undefined,
  inputLength: number | null | undefined,
  url: string,
) {
  const lengths = [modelLength && modelLength - 2, inputLength && inputLength + 4].filter((n) => typeof n === 'number');
  if (lengths.length > 0) return Math.min(...lengths);
  throw new ModelError(`${url} does not report the length of its model's context`, { reason: 'reply-malformed' });
}

export function peek({
  meta_info: { output_token_logprobs: own, output_top_logprobs: top, weight_version },
}: GenerateBody): Peek | null {
  const sampled = own?.[0];
  if (!sampled || !top?.[0]) return null;
  const byId = new Map([...top[0], sampled].flatMap(([logprob, id]) => (logprob === null ? [] : [[id, logprob]])));
  return { sampled: sampled[1], byId, version: labelOf(weight_version) };
}

/** Asks which ids each token was drawn from. A server that is older ignores it. */
export const ASK_SETS = { return_sampling_mask: true };

/** Asks to which experts the tokens from this one on went. */
export const askExperts = (from: number) => ({ return_routed_experts: true, routed_experts_start_len: from });

/** What a server that was asked for sets must have sent. */
export function setsIn({ meta_info: said }: GenerateBody, tokens: number, place: RequestPlace) {
  const { output_token_sampling_mask: kept, output_token_sampling_logprobs: keptLogprobs } = said;
  if (kept && keptLogprobs) return { kept, keptLogprobs };
  if (tokens === 0) return { kept: [], keptLogprobs: [] };
  const flaw = 'kept sets missing';
  throw badReply(`sent an answer that is of no use (${flaw})`, place, { flaw });
}

/** SGLang's own words for a form, its values as text. */
export function heldTo({ kind, value }: ReplyForm): object {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  switch (kind) {
    case 'schema':
      return { json_schema: text };
    case 'json':
      return { json_schema: '{"type":"object"}' };
    case 'regex':
      return { regex: text };
    case 'choice':
      return { regex: (value as readonly string[]).map((one) => one.replace(SPECIAL, '\\$&')).join('|') };
    case 'grammar':
      return { ebnf: text };
    case 'tag':
      return { structural_tag: text };
  }
}

const SPECIAL = /[\\^$.*+?()[\]{}|]/g;
