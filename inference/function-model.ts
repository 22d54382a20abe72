// A model that is a function of the program that made the run: messages in, text out. A text backend: no ids, no sample for
// training. Its calls are activities on the program's own queue.

import { ModelError } from '../domain/errors/errors.ts';
import { short } from '../domain/text/foreign-text.ts';
import { sha256Hex } from '../domain/text/sha256.ts';
import type { Sampling } from '../domain/rollout/sampling.ts';
import { type Finish, TURN, type Usage, USAGE } from '../domain/rollout/turn.ts';
import * as f from '../domain/schema/fields.ts';
import { type GivenCall, GIVEN_CALLS, type ToolSchema } from '../domain/tools/tool.ts';
import { withinSeconds } from '../local/machine/aborted-wait.ts';
import type { TextBackend, TextMessage } from './backend.ts';
import { DEFAULT_SETTINGS } from '../domain/rollout/settings.ts';
import { checkTextRequest } from './request.ts';

export interface ModelRequest extends Sampling {
  /** Stable over retries: `<run>/<query>/<sample>/<turn>`. */
  readonly requestId: string;
  readonly maxNewTokens: number;
  /** Seed of this request's own random stream: a whole number below 2 ** 53. */
  readonly seed: number;
  /** The tools that may be called. */
  readonly tools: readonly ToolSchema[];
  /** Aborts when the run's `requestTimeoutSeconds` are over, the rollout is cancelled, or the program stops: a later answer is not used. */
  readonly signal: AbortSignal;
}

export interface ModelAnswer {
  readonly text: string;
  /** `length`: a limit cut it. Default: `stop`. */
  readonly finish?: Finish;
  readonly usage?: Usage;
  /** Thoughts apart from the answer. */
  readonly reasoning?: string;
  /** `{ id, name, arguments }`, the arguments as JSON text. */
  readonly toolCalls?: readonly GivenCall[];
}

const ANSWER = {
  text: f.TEXT,
  finish: f.maybe(TURN.finish),
  usage: f.maybe(f.objectOf(USAGE)),
  reasoning: f.maybe(f.TEXT),
  toolCalls: f.maybe(GIVEN_CALLS),
};

/** An error with `retryable: true` is tried again; another ends the rollout as failed. */
export type ModelFunction = (
  messages: readonly TextMessage[],
  request: ModelRequest,
) => string | ModelAnswer | Promise<string | ModelAnswer>;

/** `function:<name>@<hash of its source>` */
export const functionModelName = (answer: ModelFunction): string =>
  `function:${answer.name === '' ? 'model' : short(answer.name, 60)}@${sha256Hex(answer.toString()).slice(0, 12)}`;

/** A call that takes longer than `timeoutSeconds` is made again, as a request to a server is. */
export function functionBackend(
  answer: ModelFunction,
  timeoutSeconds = DEFAULT_SETTINGS.requestTimeoutSeconds,
): TextBackend {
  const name = functionModelName(answer);
  const late = new ModelError(`The model ${name} gave nothing in ${timeoutSeconds} s.`, {
    ...{ reason: 'server-timeout', retryable: true },
    fix: 'Give it more time with --request-timeout-seconds, or let it answer sooner.',
  });
  return {
    facts: { kind: 'text', name, fingerprint: null },
    async generate(request, { signal }) {
      signal.throwIfAborted();
      checkTextRequest(request);
      const { requestId, messages, maxNewTokens, sampling, seed, tools = [], toolChoice } = request;
      const asked = { ...sampling, requestId, maxNewTokens, seed, tools: toolChoice === 'none' ? [] : tools };
      const given = await withinSeconds(timeoutSeconds, signal, late, (limited) =>
        answered(name, async () => answer(messages, { ...asked, signal: limited })),
      );
      const { text, finish = 'stop', usage, reasoning, toolCalls = [] } = read(name, given, tools.length > 0);
      return {
        ...{ text: text.toWellFormed(), finish, server: null, textLogprobs: [] },
        ...(usage && { usage }),
        ...(reasoning !== undefined && { reasoning: reasoning.toWellFormed() }),
        ...(toolCalls.length > 0 && { toolCalls }),
      };
    },
    close: async () => undefined,
  };
}

/** A text, or an answer whose fields are all right. */
function read(name: string, given: unknown, hasTools: boolean): ModelAnswer {
  if (typeof given === 'string') return { text: given };
  if (!f.isObject(given)) throw broken(name, `gave neither a text nor an object: ${short(String(given), 100)}`);
  const alien = Object.keys(given).find((field) => !Object.hasOwn(ANSWER, field));
  const fields = Object.keys(ANSWER).join(', ');
  if (alien !== undefined) throw broken(name, `gave the field ${short(alien, 80)}: an answer has ${fields}`);
  const flaw = f.flawIn(ANSWER, given);
  if (flaw !== undefined) throw broken(name, `gave an answer that ${flaw}`);
  const answer = given as unknown as ModelAnswer;
  if (!hasTools && (answer.toolCalls ?? []).length > 0) throw broken(name, 'calls tools, and the run has none');
  return answer;
}

async function answered(name: string, ask: () => Promise<string | ModelAnswer>): Promise<unknown> {
  try {
    return await ask();
  } catch (error) {
    const retryable = (Object(error) as { readonly retryable?: unknown }).retryable === true;
    throw broken(name, `failed: ${error instanceof Error ? error.message : String(error)}`, retryable, error);
  }
}

const broken = (name: string, what: string, retryable = false, cause?: unknown): ModelError =>
  new ModelError(`The model ${name} ${what}`, { reason: 'model-broken', retryable, cause });
