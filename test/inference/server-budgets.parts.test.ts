// A server of tokens that does not take the whole budget: what its context, or its own limit, leaves is asked for instead, and
// an answer without a token is one.

import { afterEach, describe, expect, test } from 'vitest';
import type { GenerateRequest, TokenBackend } from '../../inference/backend.ts';
import { ask as askFleet, closeAll, serverAndBackend } from '../support/fleet-rig.ts';
import type { ModelServer } from '../support/model-server.ts';
import type { Shape } from '../support/toy-engine.ts';
import type { Reply } from '../support/toy-wire.ts';

let server: ModelServer;
let backend: TokenBackend;
afterEach(closeAll);

const start = async (shape: Shape) => void ({ server, backend } = await serverAndBackend(shape, { recheckEvery: 0 }));
const ask = (changes: Partial<GenerateRequest>) => askFleet(backend, 'run/q/0', changes);

interface Asked {
  readonly context: number;
  readonly most: number;
}
const refused = (message: string): Reply => ({ status: 400, body: { error: { message, code: 400 } } });

/** Refuses in these words; undefined: takes it. Tells the budgets that it was asked for. */
function refuse(words: (asked: Asked) => string | undefined): number[] {
  const budgets: number[] = [];
  server.instead = (_, body) => {
    const { sampling_params: params = body } = body;
    const ids = (body['input_ids'] ?? body['token_ids'] ?? body['prompt']) as readonly number[] | undefined;
    if (!ids) return null;
    const most = Number(params['max_new_tokens'] ?? params['max_tokens']);
    budgets.push(most);
    const message = words({ context: ids.length, most });
    return message === undefined ? null : refused(message);
  };
  return budgets;
}

const LENGTH = 100;
const over = ({ context, most }: Asked) => context + most > LENGTH;
const CONTEXT = Array.from({ length: 40 }, (_, i) => 10 + i);

const WORDINGS: readonly (readonly [string, Shape, (asked: Asked) => string])[] = [
  [
    'SGLang',
    { kind: 'sglang' },
    ({ context, most }) =>
      `Requested token count exceeds the model's maximum context length of ${LENGTH} tokens. You requested a total of ${context + most} tokens: ${context} tokens from the input messages and ${most} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`,
  ],
  [
    'vLLM',
    { kind: 'vllm' },
    ({ context, most }) =>
      `This model's maximum context length is ${LENGTH} tokens. However, you requested ${most} output tokens and your prompt contains at least ${context + 1} input tokens, for a total of at least ${context + most + 1} tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=${context})`,
  ],
  [
    'vLLM, without spans',
    { kind: 'vllm', scaleOut: false },
    ({ context, most }) =>
      `This model's maximum context length is ${LENGTH} tokens. However, you requested ${context + most} tokens (${context} in the messages, ${most} in the completion). Please reduce the length of the messages or completion.`,
  ],
  [
    'a gateway that counts otherwise',
    { kind: 'vllm' },
    () => `the request exceeds the model's context window of ${LENGTH} tokens`,
  ],
];

describe('a budget that a server of tokens does not take', () => {
  test.each(WORDINGS)('is cut to what the context leaves, if any, as %s says it', async (_, shape, words) => {
    await start(shape);
    const budgets = refuse((asked) => (over(asked) ? words(asked) : undefined));
    const { outputIds, finish } = await ask({ contextIds: CONTEXT, maxNewTokens: 500 });
    expect({ tokens: outputIds.length, finish, budgets }).toEqual({ tokens: 60, finish: 'length', budgets: [500, 60] });
    budgets.splice(0);
    const contextIds = [...CONTEXT, ...CONTEXT, ...CONTEXT];
    await expect(ask({ contextIds, maxNewTokens: 500 })).rejects.toMatchObject({ reason: 'context-length' });
    expect(budgets).toEqual([500]);
  });

  test.each([
    'max_new_tokens must be less than or equal to 64',
    'max_tokens is too large: 500. This model supports at most 64 completion tokens',
  ])('is cut to the limit of the server itself, once for all requests: %s', async (words) => {
    await start({ kind: 'sglang' });
    const budgets = refuse(({ most }) => (most > 64 ? words : undefined));
    expect((await ask({ contextIds: CONTEXT, maxNewTokens: 500 })).outputIds).toHaveLength(64);
    expect((await ask({ contextIds: CONTEXT, maxNewTokens: 300 })).outputIds).toHaveLength(64);
    expect((await ask({ contextIds: CONTEXT, maxNewTokens: 8 })).outputIds).toHaveLength(8);
    expect(budgets).toEqual([500, 64, 64, 8]);
  });

  test('is halved until it is taken where the words say no number', async () => {
    await start({ kind: 'vllm' });
    const budgets = refuse((asked) => (over(asked) ? 'Too many tokens for the context window.' : undefined));
    expect((await ask({ contextIds: CONTEXT, maxNewTokens: 400 })).outputIds).toHaveLength(50);
    expect(budgets).toEqual([400, 200, 100, 50]);
  });

  test('is asked for no less where a refusal is about something else', async () => {
    await start({ kind: 'vllm' });
    const budgets = refuse(() => 'top_p must be in (0, 1], got 0.');
    await expect(ask({ maxNewTokens: 500 })).rejects.toMatchObject({ reason: 'request-refused' });
    expect(budgets).toEqual([500]);
  });
});

const KINDS: readonly Shape[] = [
  { kind: 'sglang' },
  { kind: 'sglang', spans: false },
  { kind: 'vllm' },
  { kind: 'vllm', scaleOut: false },
];

/** The reply without its tokens, as if the model had ended its answer before the first. */
function emptied(whole: Record<string, unknown>, finish: 'stop' | 'length', nothing: null | []): object {
  const counted = { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 };
  const meta = whole['meta_info'] as Record<string, unknown> | undefined;
  if (meta) {
    const meta_info = {
      ...meta,
      finish_reason: finish === 'stop' ? { type: 'stop', matched: 2 } : { type: 'length', length: 4 },
      completion_tokens: 0,
      output_token_logprobs: nothing,
      ...(meta['weight_versions'] ? { weight_versions: nothing } : {}),
    };
    return { ...whole, output_ids: [], meta_info };
  }
  const [choice] = whole['choices'] as Record<string, unknown>[];
  const none = { token_ids: [], logprobs: null, weight_versions: nothing, finish_reason: finish, stop_reason: null };
  const usage = { ...(whole['usage'] as object), ...counted };
  return { ...whole, usage: { ...usage, prompt_tokens: 2, total_tokens: 2 }, choices: [{ ...choice, ...none }] };
}

describe('an answer without a token', () => {
  test.each(KINDS)(
    'that ended by stop is one, of the weights of then, and by length had no room: %j',
    async (shape) => {
      await start(shape);
      server.engine.version = 'step-7';
      const versions = [{ version: 7, versionLabel: 'step-7', start: 0, end: 0 }];
      for (const nothing of [null, []] as const) {
        server.fail({ change: (whole) => emptied(whole, 'stop', nothing as null) });
        const nothingSaid = { outputIds: [], logprobs: [], finish: 'stop', versions, server: server.url };
        expect(await ask({ contextIds: [3, 4] })).toEqual(nothingSaid);
      }
      server.fail({ change: (whole) => emptied(whole, 'length', []) });
      await expect(ask({ contextIds: [3, 4] })).rejects.toMatchObject({ reason: 'context-length' });
    },
  );
});
