// Any endpoint with OpenAI's chat completions: messages in, text out, with logprobs of the server's own tokens if it sends
// them. A text backend: no ids, no vocabulary and no tokenizer, so no sample for training.

import { ModelError } from '../../domain/errors/errors.ts';
import { SAMPLING, type Sampling } from '../../domain/rollout/sampling.ts';
import { ALL_DEFAULTS } from '../../domain/run/settings.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { isFolder } from '../../domain/weights/model-identity.ts';
import { messageCalls, templateTools } from '../../domain/tools/tool-extension.ts';
import type { ToolSchema } from '../../domain/tools/tool.ts';
import { readApiKey } from '../http/api-key.ts';
import type { BackendOptions, GenerateOptions, TextBackend, TextMessage, TextReply, TextRequest } from '../backend.ts';
import { openFleet } from '../fleet/fleet.ts';
import { textRules } from '../fleet/rules.ts';
import { openHttp, type Http } from '../http/http.ts';
import { badReply } from '../http/http-errors.ts';
import { SLOW_TIMEOUTS, otherName, routingHeaders, type ServerBackend } from '../fleet/server-backend.ts';
import { parseOpenaiTarget } from '../http/server-url.ts';
import { checkTextRequest } from '../request.ts';
import { namedOnly, readCompletion, sayText } from './openai-reply.ts';

const PATH = '/chat/completions';

export function createOpenaiBackend(options: BackendOptions): Promise<TextBackend> {
  const { url, model } = parseOpenaiTarget(options.target);
  const apiKey = readApiKey(options.apiKeyEnv);
  const more = { requestTimeoutMs: options.requestTimeoutSeconds * 1000, extraBody: options.extraBody };
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

/** The request parameters that this server and model accept, probed at start. */
interface Dialect {
  readonly budget: 'max_completion_tokens' | 'max_tokens';
  readonly logprobs: boolean;
  readonly seed: boolean;
  readonly temperature: boolean;
  readonly topP: boolean;
  /** Sent to a server that would otherwise use the model's own top_k and reject it. */
  readonly topK: -1 | null;
}

export async function openOpenai(
  url: string,
  model: string,
  apiKey: string | null,
  { requestTimeoutMs, extraBody = {} }: { requestTimeoutMs?: number; extraBody?: JsonObject | null | undefined } = {},
): Promise<ServerBackend<'text'>> {
  const http = openHttp({ url, apiKey, ...(requestTimeoutMs !== undefined && { requestTimeoutMs }) });
  try {
    const ask: Ask = (question, dialect) => ({ ...extraBody, ...bodyOf({ model, ...question }, dialect) });
    return serverBackend(http, model, ask, await learnDialect(http, ask));
  } catch (error) {
    await http.close();
    throw error;
  }
}

type Ask = (question: Omit<Question, 'model'>, dialect: Dialect) => object;

const PLAIN = { temperature: true, topP: true, topK: null } as const;
const DIALECT: Dialect = { budget: 'max_tokens', logprobs: true, seed: true, ...PLAIN };
/** The changes that a server's error about one parameter causes. */
const COMPLAINTS: readonly [RegExp, (dialect: Dialect) => Dialect][] = [
  [/max_completion_tokens|max_tokens/, (d) => ({ ...d, budget: 'max_completion_tokens' })],
  [/logprobs/, (d) => ({ ...d, logprobs: false })],
  [/seed/, (d) => ({ ...d, seed: false })],
  // SGLang reads generation_config.json, in which top_k 0 means none, and rejects that value.
  [/top_k/, (d) => ({ ...d, topK: -1 })],
  // Models that think take neither, and some models only one of the two.
  [/top_p/, (d) => ({ ...d, topP: false })],
  [/temperature/, (d) => ({ ...d, temperature: false })],
];

async function learnDialect(http: Http, ask: Ask): Promise<Dialect & { readonly name: string | null }> {
  const messages = [{ role: 'user' as const, content: 'Say yes.' }];
  let dialect = DIALECT;
  for (;;) {
    const body = ask({ messages, maxNewTokens: 16, seed: 1, temperature: 1, topP: 1 }, dialect);
    try {
      const reply = await http.post(PATH, body, { timeouts: SLOW_TIMEOUTS });
      const { text, tokens, name } = readCompletion(reply, http.place(PATH));
      // Tokens in another spelling than the text's cannot be compared with it, so they are not asked for.
      const logprobs = dialect.logprobs && tokens.length > 0 && (text === null || sayText(tokens, text));
      return { ...dialect, logprobs, name };
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
  const changed = COMPLAINTS.filter(([words]) => words.test(message)).map(([, change]) => change(dialect));
  return changed.find((next) => JSON.stringify(next) !== JSON.stringify(dialect)) ?? null;
}

interface Question {
  readonly model: string;
  readonly messages: readonly TextMessage[];
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly noCalls?: boolean | undefined;
  readonly maxNewTokens: number;
  readonly seed: number;
  readonly temperature: number;
  readonly topP: number;
}

function bodyOf(question: Question, dialect: Dialect) {
  const { model, messages, tools = [], noCalls, maxNewTokens, seed, temperature, topP } = question;
  return {
    model,
    messages: messages.map(sentMessage),
    ...(tools.length > 0 && { tools: templateTools(tools) }),
    ...(tools.length > 0 && noCalls && { tool_choice: 'none' }),
    [dialect.budget]: maxNewTokens,
    ...(dialect.temperature ? { temperature } : {}),
    ...(dialect.topP ? { top_p: topP } : {}),
    ...(dialect.seed ? { seed } : {}),
    ...(dialect.logprobs ? { logprobs: true } : {}),
    ...(dialect.topK === null ? {} : { top_k: dialect.topK }),
  };
}

function sentMessage({ role, content, toolCalls, tool_call_id }: TextMessage): object {
  if (tool_call_id !== undefined) return { role, content, tool_call_id };
  return { role, content, ...(toolCalls && { tool_calls: messageCalls(toolCalls) }) };
}

function serverBackend(
  http: Http,
  model: string,
  ask: Ask,
  dialect: Dialect & { readonly name: string | null },
): ServerBackend<'text'> {
  const place = http.place(PATH);

  async function generate(request: TextRequest, { signal, onProgress }: GenerateOptions): Promise<TextReply> {
    signal.throwIfAborted();
    checkTextRequest(request);
    const { messages, tools = [], noCalls, maxNewTokens, seed, sampling } = request;
    const { temperature, topP } = dialect;
    const takes: Record<keyof Sampling, boolean> = { temperature, topP, topK: false, minP: false };
    const untaken = SAMPLING.find(
      (name) => !takes[name] && (sampling[name] ?? ALL_DEFAULTS[name]) !== ALL_DEFAULTS[name],
    );
    if (untaken !== undefined) {
      const fix = `Leave the ${untaken} at ${ALL_DEFAULTS[untaken]}.`;
      throw new ModelError(`${place.url} takes no ${untaken} for ${model}`, { reason: 'bad-sampling', fix });
    }
    const body = ask({ messages, tools, noCalls, maxNewTokens, seed, ...sampling }, dialect);
    const headers = routingHeaders(request.requestId);
    const reply = await http.post(PATH, body, { signal, headers, onSent: () => onProgress?.(0) });
    const { text, finish, tokens, name, usage, reasoning, toolCalls } = readCompletion(reply, place);
    if (toolCalls.length > 0 && tools.length === 0)
      throw badReply('called a tool, and none was offered', place, { flaw: 'calls of tools that were not offered' });
    if (text === null) throw badReply('gave no text', place, { flaw: 'choices.0.message.content missing' });
    if (!text.isWellFormed()) throw badReply('gave half a character', place, { flaw: 'a lone surrogate' });
    if (name !== null && dialect.name !== null && name !== dialect.name) throw otherName(name, dialect.name, place);
    const said = dialect.logprobs ? tokens : [];
    if (!sayText(said, text)) {
      throw badReply('gave logprobs of tokens that are not its text', place, { flaw: 'logprobs of another text' });
    }
    return {
      text,
      finish,
      server: http.url,
      textLogprobs: said.flatMap(({ token, logprob }) =>
        logprob === null ? [] : [{ token, logprob: Math.min(logprob, 0) }],
      ),
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
      ...(dialect.name === null || isFolder(dialect.name) ? {} : { identity: namedOnly(dialect.name) }),
    },
    generate,
    close: http.close,
  };
}
