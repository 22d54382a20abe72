// The two endpoints of vLLM that take and return token ids: the request's body, the fields read from the answer, and the
// name under which a request is aborted. Pure.

import { z } from 'zod';
import type { ReplyForm } from '../../domain/agent/index.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { ReportedCounts } from '../possible.ts';
import type { ServerReply } from '../fleet/server-backend.ts';
import type { Peek } from '../fleet/logprob-canary.ts';
import { numbers, numbersByToken, numbersOrNull, strings, tokenLogprobs } from '../http/reply-lists.ts';
import type { ReportedSpan } from './version-spans.ts';

export type Params = Readonly<Record<string, unknown>>;

interface Call {
  readonly model: string;
  readonly contextIds: readonly number[];
  readonly id: string | null;
  readonly params: Params;
}

export interface Endpoint {
  readonly path: string;
  /** True if every answer has spans of weight versions. */
  readonly reportsSpans: boolean;
  /** It says what each token was drawn from, and takes a finite top-k alone (--return-sampling-mask). */
  readonly givesSets: boolean;
  readonly abortPath: string;
  /** The engine's name for the call `id`. */
  readonly nameOf: (id: string) => string;
  readonly body: (call: Call) => unknown;
  readonly reply: z.ZodType<Choice>;
  /** Null without token ids. */
  readonly answer: (choice: Choice) => ReadReply | null;
  readonly peek: (choice: Choice) => Peek | null;
}

/** A reply as received; `finish` is null for an unknown reason. */
type ReadReply = Omit<ServerReply, 'finish' | 'versions'> & { readonly finish: Finish | null };

/** The single choice of either endpoint's body, in a common form. */
interface Choice {
  /** The server's name of the request; null if it gives none. */
  readonly id: string | null;
  readonly finish: string | null;
  readonly ids: readonly number[] | null;
  /** The ids beside the logprobs, if all are present. */
  readonly named: readonly number[] | null;
  readonly endedAt: number | null;
  readonly logprobs: readonly (number | null)[];
  /** The ids that each token was drawn from; null if it does not say. */
  readonly kept: readonly (readonly number[])[] | null;
  readonly spans: readonly ReportedSpan[] | null;
  /** Of what the server was fed with; null if it says none. */
  readonly experts: string | null;
  /** Ids and logprobs at the first position. */
  readonly top: readonly (readonly [number, number])[];
  readonly counts: ReportedCounts;
  /** The ids that the server read, in each place where it says them. */
  readonly read: readonly (readonly number[])[];
  /** The model that the reply names; null if it names none. */
  readonly model: string | null;
}

const version = z.union([z.string(), z.number()]).nullish();
/** One choice was asked for, and is the first one. */
const CHOICE_INDEX = z.literal(0).nullish();
export const VLLM_USAGE = z
  .object({
    prompt_tokens: z.unknown().optional(),
    completion_tokens: z.unknown().optional(),
    total_tokens: z.unknown().optional(),
    prompt_tokens_details: z.object({ cached_tokens: z.unknown().optional() }).nullish(),
    completion_tokens_details: z.object({ reasoning_tokens: z.unknown().optional() }).nullish(),
    // SGLang's name of the count.
    reasoning_tokens: z.unknown().optional(),
  })
  .nullish();

export function countsOf(said: z.infer<typeof VLLM_USAGE>): ReportedCounts {
  return {
    prompt: said?.prompt_tokens,
    completion: said?.completion_tokens,
    total: said?.total_tokens,
    cached: said?.prompt_tokens_details?.cached_tokens,
    reasoning: said?.completion_tokens_details?.reasoning_tokens ?? said?.reasoning_tokens,
  };
}

export const Models = z.object({
  data: z
    .array(z.object({ id: z.string(), root: z.string().nullish(), max_model_len: z.int().positive().nullish() }))
    .min(1),
});
export const WeightInfo = z.object({ weight_version: version });

const GenerateReply = z
  .object({
    choices: z
      .array(
        z.object({
          index: CHOICE_INDEX,
          finish_reason: z.string().nullable(),
          stop_reason: z.unknown(),
          token_ids: numbers.nullish(),
          prompt_token_ids: numbers.nullish(),
          routed_experts: z.string().nullish(),
          weight_versions: z.array(z.object({ version, start: z.number(), end: z.number() })).nullish(),
          sampling_mask: numbersByToken.nullish(),
          logprobs: z.object({ content: tokenLogprobs.nullish() }).nullish(),
        }),
      )
      .length(1),
    usage: VLLM_USAGE,
    prompt_token_ids: numbers.nullish(),
    model: z.string().nullish(),
    request_id: z.string().nullish(),
  })
  .transform(({ choices: [choice], usage: used, prompt_token_ids: read, model, request_id: id }): Choice => {
    const content = choice!.logprobs?.content ?? [];
    return {
      id: id ?? null,
      counts: countsOf(used),
      read: [read, choice!.prompt_token_ids].flatMap((ids) => (ids ? [ids] : [])),
      model: model ?? null,
      finish: choice!.finish_reason,
      ids: choice!.token_ids ?? null,
      named: allNumbers(content.map(({ token_id }) => token_id)),
      endedAt: stopId(choice!.stop_reason),
      logprobs: content.map(({ logprob }) => logprob),
      kept: choice!.sampling_mask ?? null,
      spans: choice!.weight_versions ?? null,
      experts: choice!.routed_experts ?? null,
      top: (content[0]?.top_logprobs ?? []).flatMap(({ token_id, logprob }) =>
        logprob === null ? [] : [[token_id, logprob] as const],
      ),
    };
  });

const CompletionReply = z
  .object({
    choices: z
      .array(
        z.object({
          index: CHOICE_INDEX,
          finish_reason: z.string().nullable(),
          stop_reason: z.unknown(),
          token_ids: numbers.nullish(),
          prompt_token_ids: numbers.nullish(),
          routed_experts: z.string().nullish(),
          logprobs: z
            .object({
              token_logprobs: numbersOrNull,
              tokens: strings.nullish(),
              top_logprobs: z.array(z.record(z.string(), z.number().nullable()).nullish()).nullish(),
            })
            .nullish(),
        }),
      )
      .length(1),
    usage: VLLM_USAGE,
    prompt_token_ids: numbers.nullish(),
    model: z.string().nullish(),
    id: z.string().nullish(),
  })
  .transform(({ choices: [choice], usage: used, prompt_token_ids: read, model, id }): Choice => {
    const { token_logprobs = [], tokens, top_logprobs } = choice!.logprobs ?? {};
    const named = allNumbers(tokens?.map(idOf) ?? null);
    return {
      id: id ?? null,
      counts: countsOf(used),
      read: [read, choice!.prompt_token_ids].flatMap((ids) => (ids ? [ids] : [])),
      model: model ?? null,
      finish: choice!.finish_reason,
      ids: choice!.token_ids ?? named,
      named,
      endedAt: stopId(choice!.stop_reason),
      logprobs: token_logprobs,
      kept: null,
      spans: null,
      experts: choice!.routed_experts ?? null,
      top: Object.entries(top_logprobs?.[0] ?? {}).flatMap(([token, logprob]) => {
        const id = idOf(token);
        return id === null || logprob === null ? [] : [[id, logprob] as const];
      }),
    };
  });

/** `token_id:169`: older versions return this instead of ids. */
function idOf(token: string): number | null {
  const digits = /^token_id:(\d+)$/.exec(token)?.[1];
  return digits === undefined ? null : Number(digits);
}

function allNumbers(ids: readonly unknown[] | null): readonly number[] | null {
  return ids?.every((id) => typeof id === 'number') ? ids : null;
}

function stopId(reason: unknown): number | null {
  return typeof reason === 'number' ? reason : null;
}

const FINISHES: Readonly<Record<string, Finish>> = { stop: 'stop', length: 'length', abort: 'abort' };

function answer({ ids, logprobs, finish, endedAt, counts }: Choice): ReadReply | null {
  if (ids === null) return null;
  return { outputIds: ids, logprobs, finish: FINISHES[finish ?? ''] ?? null, endedAt, counts };
}

function peek({ ids, top, spans }: Choice): Peek | null {
  const sampled = ids?.[0];
  if (sampled === undefined || top.length === 0) return null;
  const word = spans?.[0]?.version;
  return { sampled, byId: new Map(top), version: word == null ? null : String(word) };
}

/** If requested and sent: beside the choices, or in the single choice. */
const Given = z.array(z.record(z.string(), z.object({ logprob: z.number().nullable() })).nullable());

export function givenLogprobs(reply: unknown, ids: readonly number[]): (readonly [number, number | null])[] {
  const { prompt_logprobs: beside, choices } = reply as {
    prompt_logprobs?: unknown;
    choices?: { prompt_logprobs?: unknown }[];
  };
  const given = Given.safeParse(beside ?? choices?.[0]?.prompt_logprobs).data ?? [];
  return ids.map((id, i) => [id, given[i]?.[String(id)]?.logprob ?? null]);
}

export const GENERATE: Endpoint = {
  path: '/inference/v1/generate',
  reportsSpans: true,
  givesSets: false,
  abortPath: '/inference/v1/abort_requests',
  nameOf: (id) => `generate-tokens-${id}`,
  body: ({ model, contextIds, id, params }) => ({
    model,
    token_ids: contextIds,
    sampling_params: params,
    return_token_ids: true,
    ...(id === null ? {} : { request_id: id }),
  }),
  reply: GenerateReply,
  answer,
  peek,
};

export const COMPLETIONS: Endpoint = {
  path: '/v1/completions',
  reportsSpans: false,
  givesSets: false,
  abortPath: '/abort_requests',
  nameOf: (id) => `cmpl-${id}-0`,
  body: ({ model, contextIds, id, params }) => ({
    model,
    prompt: contextIds,
    ...params,
    return_token_ids: true,
    return_tokens_as_token_ids: true,
    ...(id === null ? {} : { request_id: id }),
  }),
  reply: CompletionReply,
  answer,
  peek,
};

/** vLLM's own words for a form. */
export function heldTo({ kind, value }: ReplyForm): object {
  if (kind === 'schema') return { json: value };
  if (kind === 'json') return { json_object: true };
  return { [kind === 'tag' ? 'structural_tag' : kind]: kind === 'tag' ? JSON.stringify(value) : value };
}
