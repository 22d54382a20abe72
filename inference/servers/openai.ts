// Any endpoint with OpenAI's chat completions: messages in, text out, with logprobs of the server's own tokens if it sends
// them. A text backend: no ids, no vocabulary and no tokenizer, so no sample for training.

import { z } from 'zod';

import { ModelError } from '../../domain/errors.ts';
import type { Message } from '../../domain/query.ts';
import type { Finish } from '../../domain/turn.ts';
import { readApiKey } from '../http/api-key.ts';
import type { BackendOptions, GenerateOptions, TextBackend, TextReply, TextRequest } from '../backend.ts';
import { openFleet } from '../fleet/fleet.ts';
import { TEXT_RULES } from '../fleet/rules.ts';
import { openHttp, type Http } from '../http/http.ts';
import { badReply } from '../http/http-errors.ts';
import { CANARY_TIMEOUTS, parseReply, routingHeaders, type ServerBackend } from '../fleet/server-backend.ts';
import { parseOpenaiTarget } from '../http/server-url.ts';
import { checkTextRequest } from '../request.ts';

const PATH = '/chat/completions';

export function createOpenaiBackend(options: BackendOptions): Promise<TextBackend> {
  const { url, model } = parseOpenaiTarget(options.target);
  const apiKey = readApiKey(options.apiKeyEnv);
  const requestTimeoutMs = options.requestTimeoutSeconds * 1000;
  return openFleet({
    ...options,
    urls: [url],
    rules: TEXT_RULES,
    open: () => openOpenai(url, model, apiKey, requestTimeoutMs),
  });
}

const Completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
        logprobs: z
          .object({ content: z.array(z.object({ token: z.string(), logprob: z.number().nullable() })).nullish() })
          .nullish(),
      }),
    )
    .min(1),
});

/** The request parameters that this server and model accept, probed at start. */
interface Dialect {
  readonly budget: 'max_completion_tokens' | 'max_tokens';
  readonly logprobs: boolean;
  readonly seed: boolean;
  /** Sent to a server that would otherwise use the model's own top_k and reject it. */
  readonly topK: -1 | null;
}

export async function openOpenai(
  url: string,
  model: string,
  apiKey: string | null,
  requestTimeoutMs?: number,
): Promise<ServerBackend<'text'>> {
  const http = openHttp({ url, apiKey, requestTimeoutMs });
  try {
    return serverBackend(http, model, await learnDialect(http, model));
  } catch (error) {
    await http.close();
    throw error;
  }
}

const DIALECT: Dialect = { budget: 'max_tokens', logprobs: true, seed: true, topK: null };
/** The changes that a server's error about one parameter causes. */
const COMPLAINTS: readonly [RegExp, (dialect: Dialect) => Dialect][] = [
  [/max_completion_tokens|max_tokens/, (d) => ({ ...d, budget: 'max_completion_tokens' })],
  [/logprobs/, (d) => ({ ...d, logprobs: false })],
  [/seed/, (d) => ({ ...d, seed: false })],
  // SGLang reads generation_config.json, in which top_k 0 means none, and rejects that value.
  [/top_k/, (d) => ({ ...d, topK: -1 })],
];

async function learnDialect(http: Http, model: string): Promise<Dialect> {
  const messages = [{ role: 'user' as const, content: 'Say yes.' }];
  let dialect = DIALECT;
  for (;;) {
    const body = bodyOf({ model, messages, maxNewTokens: 16, seed: 1, temperature: 1, topP: 1 }, dialect);
    try {
      const { choices } = parseReply(
        Completion,
        await http.post(PATH, body, { timeouts: CANARY_TIMEOUTS }),
        http.place(PATH),
      );
      return { ...dialect, logprobs: dialect.logprobs && (choices[0]!.logprobs?.content?.length ?? 0) > 0 };
    } catch (error) {
      const next = error instanceof ModelError && afterComplaint(error, dialect);
      if (!next) throw error;
      dialect = next;
    }
  }
}

/** Null if the error is about something else, or was handled already. */
function afterComplaint({ reason, message }: ModelError, dialect: Dialect): Dialect | null {
  if (reason !== 'request-refused') return null;
  const next = COMPLAINTS.find(([words]) => words.test(message))?.[1](dialect);
  return next && JSON.stringify(next) !== JSON.stringify(dialect) ? next : null;
}

interface Question {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly maxNewTokens: number;
  readonly seed: number;
  readonly temperature: number;
  readonly topP: number;
}

function bodyOf({ model, messages, maxNewTokens, seed, temperature, topP }: Question, dialect: Dialect) {
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    [dialect.budget]: maxNewTokens,
    temperature,
    top_p: topP,
    ...(dialect.seed ? { seed } : {}),
    ...(dialect.logprobs ? { logprobs: true } : {}),
    ...(dialect.topK === null ? {} : { top_k: dialect.topK }),
  };
}

/** A top_k of this size cuts nothing, whatever the vocabulary. */
const NO_TOP_K = 10_000_000;

function serverBackend(http: Http, model: string, dialect: Dialect): ServerBackend<'text'> {
  const place = http.place(PATH);

  async function generate(request: TextRequest, { signal, onProgress }: GenerateOptions): Promise<TextReply> {
    signal.throwIfAborted();
    checkTextRequest(request);
    const { messages, maxNewTokens, seed, sampling } = request;
    if (sampling.topK < NO_TOP_K) {
      throw new ModelError(`${place.url} knows no top_k`, { reason: 'bad-sampling', fix: 'Leave --top-k out.' });
    }
    const body = bodyOf({ model, messages, maxNewTokens, seed, ...sampling }, dialect);
    const headers = routingHeaders(request.requestId);
    const reply = await http.post(PATH, body, { signal, headers, onSent: () => onProgress?.(0) });
    const { message, finish_reason, logprobs } = parseReply(Completion, reply, place).choices[0]!;
    const text = message.content ?? message.refusal;
    if (!text) throw badReply('gave no text', place, { flaw: 'choices.0.message.content missing' });
    if (!text.isWellFormed()) throw badReply('gave half a character', place, { flaw: 'a lone surrogate' });
    const tokens = logprobs?.content?.flatMap(({ token, logprob }) => (logprob === null ? [] : [{ token, logprob }]));
    return {
      text,
      finish: FINISHES[finish_reason ?? ''] ?? 'stop',
      server: http.url,
      textLogprobs: tokens ?? [],
    };
  }

  return {
    url: http.url,
    facts: {
      kind: 'text',
      name: model,
      fingerprint: null,
      logprobs: 'unknown',
      seeded: false,
    },
    generate,
    close: http.close,
  };
}

/** `content_filter` cuts an answer short, as an abort does. */
const FINISHES: Readonly<Record<string, Finish>> = { stop: 'stop', length: 'length', content_filter: 'abort' };
