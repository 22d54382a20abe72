// A model that is a function of the program that made the run: messages in, text out. A text backend: no ids, no sample for
// training. Its calls are activities on the program's own queue.

import { ModelError } from '../domain/errors/errors.ts';
import { short } from '../domain/text/foreign-text.ts';
import { sha256Hex } from '../domain/text/sha256.ts';
import type { Sampling } from '../domain/rollout/sampling.ts';
import type { Finish, Usage } from '../domain/rollout/turn.ts';
import type { GivenCall, ToolSchema } from '../domain/tools/tool.ts';
import type { TextBackend, TextMessage } from './backend.ts';
import { checkTextRequest } from './request.ts';

export interface ModelRequest extends Sampling {
  /** Stable over retries: `<run>/<query>/<sample>/<turn>`. */
  readonly requestId: string;
  readonly maxNewTokens: number;
  /** Seed of this request's own random stream: a whole number below 2 ** 53. */
  readonly seed: number;
  /** The tools that may be called. */
  readonly tools: readonly ToolSchema[];
  /** Aborts when the rollout is cancelled. */
  readonly signal: AbortSignal;
}

export interface ModelAnswer {
  readonly text: string;
  /** `length`: a limit cut it. Default: `stop`. */
  readonly finish?: Finish;
  readonly usage?: Usage;
  /** Thoughts apart from the answer. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly GivenCall[];
}

/** An error with `retryable: true` is tried again; another ends the rollout as failed. */
export type ModelFunction = (
  messages: readonly TextMessage[],
  request: ModelRequest,
) => string | ModelAnswer | Promise<string | ModelAnswer>;

/** `function:<name>@<hash of its source>` */
export const functionModelName = (answer: ModelFunction): string =>
  `function:${answer.name === '' ? 'model' : short(answer.name, 60)}@${sha256Hex(answer.toString()).slice(0, 12)}`;

export function functionBackend(answer: ModelFunction): TextBackend {
  const name = functionModelName(answer);
  return {
    facts: { kind: 'text', name, fingerprint: null },
    async generate(request, { signal }) {
      signal.throwIfAborted();
      checkTextRequest(request);
      const { requestId, messages, maxNewTokens, sampling, seed, tools = [], noCalls } = request;
      const asked = { ...sampling, requestId, maxNewTokens, seed, tools: noCalls ? [] : tools, signal };
      const given = await answered(name, async () => answer(messages, asked));
      signal.throwIfAborted();
      const {
        text,
        finish = 'stop',
        usage,
        reasoning,
        toolCalls,
      } = typeof given === 'string' ? { text: given } : given;
      if (typeof text !== 'string')
        throw broken(name, `gave no text: its answer is ${short(JSON.stringify(given) ?? 'undefined', 100)}`);
      return {
        ...{ text: text.toWellFormed(), finish, server: null, textLogprobs: [] },
        ...(usage && { usage }),
        ...(reasoning !== undefined && { reasoning }),
        ...(toolCalls && { toolCalls }),
      };
    },
    close: async () => undefined,
  };
}

async function answered(name: string, ask: () => Promise<string | ModelAnswer>): Promise<string | ModelAnswer> {
  try {
    return (await ask()) ?? { text: undefined };
  } catch (error) {
    const retryable = (Object(error) as { readonly retryable?: unknown }).retryable === true;
    throw broken(name, `failed: ${error instanceof Error ? error.message : String(error)}`, retryable, error);
  }
}

const broken = (name: string, what: string, retryable = false, cause?: unknown): ModelError =>
  new ModelError(`The model ${name} ${what}`, { reason: 'model-broken', retryable, cause });
