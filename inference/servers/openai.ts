// Any endpoint with OpenAI's chat completions: messages in, text out, with logprobs of the server's own tokens if it sends
// them. A text backend: no ids, no vocabulary and no tokenizer, so no sample for training.

import { ModelError } from '../../domain/errors/errors.ts';
import { DEFAULT_SAMPLING, SAMPLING, type Sampling } from '../../domain/rollout/sampling.ts';
import { ALL_DEFAULTS } from '../../domain/rollout/settings.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { isFolder } from '../../domain/weights/model-identity.ts';
import { readApiKey } from '../http/api-key.ts';
import type { BackendOptions, GenerateOptions, TextBackend, TextReply, TextRequest } from '../backend.ts';
import { openFleet } from '../fleet/fleet.ts';
import { textRules } from '../fleet/rules.ts';
import { type RequestOptions, openHttp, type Http } from '../http/http.ts';
import { badReply, UnreadAnswer } from '../http/http-errors.ts';
import { SLOW_TIMEOUTS, otherName, routingHeaders, type ServerBackend } from '../fleet/server-backend.ts';
import { parseOpenaiTarget } from '../http/server-url.ts';
import { checkTextRequest } from '../request.ts';
import {
  afterRefusal,
  requestBody,
  type OpenaiDialect,
  OPENAI_DIALECT,
  type Form,
  type ChatRequest,
} from './openai-dialect.ts';
import { namedOnly, nothingSaid, type ReadCompletion, readCompletion } from './openai-reply.ts';
import { joinStream } from './openai-stream.ts';

const PATH = '/chat/completions';

export function createOpenaiBackend(options: BackendOptions): Promise<TextBackend> {
  const { url, model } = parseOpenaiTarget(options.target);
  const apiKey = readApiKey(options.apiKeyEnv);
  const { extraBody, chatTemplateKwargs: variables } = options;
  const more = { requestTimeoutMs: options.requestTimeoutSeconds * 1000, extraBody, variables };
  return openFleet({
    ...options,
    urls: [url],
    rules: textRules(),
    async open() {
      const server = await openOpenai(url, model, apiKey, more);
      const name = server.facts.identity?.name ?? model;
      if (name !== model)
        options.log(
          `${url} names its model ${short(JSON.stringify(name), 100)}, where ${short(JSON.stringify(model), 100)} is asked.`,
        );
      return server;
    },
  });
}

interface OpenOptions {
  readonly requestTimeoutMs?: number;
  readonly extraBody?: JsonObject | null | undefined;
  /** Of the chat template; each request brings its own. */
  readonly variables?: JsonObject | null | undefined;
}

export async function openOpenai(
  url: string,
  model: string,
  apiKey: string | null,
  { requestTimeoutMs, extraBody, variables }: OpenOptions = {},
): Promise<ServerBackend<'text'>> {
  const http = openHttp({ url, apiKey, ...(requestTimeoutMs !== undefined && { requestTimeoutMs }) });
  try {
    const chat = openChat(http, model, extraBody ?? {});
    return serverBackend(http, model, chat, await readModelName(chat, variables));
  } catch (error) {
    await http.close();
    throw error;
  }
}

/** Conversations with one model of an endpoint; a rubric's judge has them too. */
export interface Chat {
  /** Sends a request in the form that the endpoint takes, and learns what it refuses. */
  ask(
    request: Omit<ChatRequest, 'model'>,
    sampling: Sampling,
    call: RequestOptions,
  ): Promise<ReadCompletion & { readonly most: number }>;
  /** Tokens in another spelling than the text's cannot be compared with it, so they are not asked for any more. */
  leaveLogprobs(): void;
}

export function openChat(http: Http, model: string, extraBody: JsonObject): Chat {
  const place = http.place(PATH);
  let known = OPENAI_DIALECT;

  function mustTake(sampling: Sampling, { temperature, topP }: OpenaiDialect): void {
    const takes: Partial<Record<keyof Sampling, boolean>> = { temperature, topP };
    const untaken = SAMPLING.find(
      (name) => !takes[name] && (sampling[name] ?? ALL_DEFAULTS[name]) !== ALL_DEFAULTS[name],
    );
    if (untaken === undefined) return;
    const fix = `Leave the ${untaken} at ${ALL_DEFAULTS[untaken]}.`;
    throw new ModelError(`${place.url} takes no ${untaken} for ${model}`, { reason: 'bad-sampling', fix });
  }

  async function send(body: object, call: RequestOptions): Promise<ReadCompletion> {
    try {
      return readCompletion(await http.post(PATH, body, { ...call, events: joinStream }), place);
    } catch (error) {
      const said = error instanceof ModelError ? answerIn(error) : undefined;
      if (said) return said;
      throw error;
    }
  }

  return {
    async ask(request, sampling, call) {
      const bodyIn = ({ dialect, most }: Form) => ({
        ...extraBody,
        ...requestBody({ ...request, model, maxNewTokens: most }, dialect),
      });
      let form: Form = { dialect: known, most: Math.min(request.maxNewTokens, known.mostNewTokens ?? Infinity) };
      for (;;) {
        mustTake(sampling, form.dialect);
        try {
          const read = await send(bodyIn(form), call);
          known = { ...form.dialect, ...(read.thoughtsIn && { thoughts: read.thoughtsIn }) };
          return { ...read, most: form.most };
        } catch (error) {
          const next = afterRefusal(error, form, bodyIn);
          if (!next) throw error;
          form = next;
        }
      }
    },
    leaveLogprobs: () => void (known = { ...known, logprobs: false }),
  };
}

/**
 * The answer that a failure means: a filter withheld it, the model's thoughts used up its budget, or its call could not be
 * read, and is judged as it was written.
 */
function answerIn({ reason, message, cause }: ModelError): ReadCompletion | undefined {
  if (cause instanceof UnreadAnswer) return { ...nothingSaid('stop'), text: cause.message };
  if (reason === 'answer-withheld') return nothingSaid('abort');
  return /could not finish the message because max_tokens/i.test(message) ? nothingSaid('length') : undefined;
}

/** The model's name for itself; null if it says none. */
export async function readModelName(chat: Chat, variables?: JsonObject | null): Promise<string | null> {
  const messages = [{ role: 'user' as const, content: 'Say yes.' }];
  const question = { messages, maxNewTokens: 16, seed: 1, temperature: 1, topP: 1, variables };
  const { tokens, name } = await chat.ask(question, DEFAULT_SAMPLING, { timeouts: SLOW_TIMEOUTS });
  if (tokens.length === 0) chat.leaveLogprobs();
  return name;
}

function serverBackend(http: Http, model: string, chat: Chat, known: string | null): ServerBackend<'text'> {
  async function generate(request: TextRequest, { signal, onProgress }: GenerateOptions): Promise<TextReply> {
    signal.throwIfAborted();
    checkTextRequest(request);
    const { messages, tools = [], toolChoice, form, maxNewTokens, seed, sampling, variables } = request;
    const { temperature, topP } = sampling;
    const question = { messages, tools, toolChoice, form, maxNewTokens, seed, temperature, topP, variables };
    const call = { signal, headers: routingHeaders(request.requestId), onSent: () => onProgress?.(0) };
    const { text, finish, tokens, name, usage, reasoning, toolCalls, most } = await chat.ask(question, sampling, call);
    const place = http.place(PATH);
    if (toolCalls.length > 0 && tools.length === 0)
      throw badReply('called a tool, and none was offered', place, { flaw: 'calls of tools that were not offered' });
    if (name !== null && known !== null && name !== known) throw otherName(name, model, place, known);
    return {
      text: text.toWellFormed(),
      finish,
      ...(most < maxNewTokens && { maxNewTokens: most }),
      server: http.url,
      textLogprobs: tokens.map(({ token, logprob }) => ({ token, logprob: Math.min(logprob, 0) })),
      ...(usage && { usage }),
      ...(reasoning && { reasoning: reasoning.toWellFormed() }),
      ...(toolCalls.length > 0 && { toolCalls }),
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
      ...(known === null || isFolder(known) ? {} : { identity: namedOnly(known) }),
    },
    generate,
    close: http.close,
  };
}
