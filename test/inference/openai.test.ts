// Chat completions: text, and at best logprobs of the server's own tokens. No ids, so nothing to train on.

import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import type { TextBackend, TextRequest } from '../../inference/backend.ts';
import { readCompletion } from '../../inference/servers/openai-reply.ts';
import { asText } from '../support/kinds.ts';
import { createBackend } from '../../inference/index.ts';
import { undisturbed } from '../contract/backend.ts';
import { modelServer, type Fault, type ModelServer } from '../support/model-server.ts';
import recorded from '../fixtures/servers/chat.json' with { type: 'json' };

let server: ModelServer;
let backend: TextBackend | null = null;
afterEach(async () => {
  await backend?.close();
  await server.close();
});

async function open(...faults: Fault[]): Promise<TextBackend> {
  return openWith({}, ...faults);
}

async function openWith(more: object, ...faults: Fault[]): Promise<TextBackend> {
  server = await modelServer({ kind: 'openai' });
  server.fail(...faults);
  backend = asText(
    await createBackend(`openai:${server.url}#some-model`, { tokenizer: null, log: () => undefined, ...more }),
  );
  return backend;
}

const ask = (changes: Partial<TextRequest> = {}) =>
  backend!.generate(
    {
      requestId: 'run/q/0/1',
      messages: [{ role: 'user', content: 'What is 2 + 2?' }],
      maxNewTokens: 5,
      sampling: DEFAULT_SAMPLING,
      seed: 7,
      ...changes,
    },
    undisturbed(),
  );

const refusal = (message: string): Fault => ({ status: 400, body: { error: { message } } });

describe('an OpenAI-compatible server', () => {
  test('answers in text, with logprobs of the server’s own tokens, and invents no ids, vocabulary or length', async () => {
    const opened = await open();
    const { logprobsBy, identity, ...facts } = opened.facts;
    // The name that the server gives its model, which may be an alias of the one that is asked.
    expect(identity).toMatchObject({ name: 'tiny', weights: null, canary: null });
    expect(facts).toEqual({
      kind: 'text',
      name: 'some-model',
      fingerprint: null,
      logprobs: 'unknown',
      seeded: false,
    });
    expect(logprobsBy).toEqual({ [`${server.url}/v1`]: 'unknown' });
    expect(opened).not.toHaveProperty('tokenizer');
    const reply = await ask();
    expect(Object.keys(reply).toSorted()).toEqual(['finish', 'server', 'text', 'textLogprobs', 'usage']);
    const { text, textLogprobs, finish } = reply;
    expect(textLogprobs.map(({ token }) => token).join(' ')).toBe(text);
    expect(textLogprobs).toHaveLength(5);
    expect(finish).toBe('length');
    expect(server.seen.at(-1)!.body).toEqual({
      model: 'some-model',
      messages: [{ role: 'user', content: 'What is 2 + 2?' }],
      max_tokens: 5,
      temperature: 1,
      top_p: 1,
      seed: 7,
      logprobs: true,
    });
  });

  test('learns at start which parameters the model takes', async () => {
    await open(
      refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
      refusal('logprobs are not supported with reasoning models.'),
      refusal('seed is not supported'),
    );
    const { textLogprobs } = await ask();
    expect(textLogprobs).toEqual([]);
    const { messages: _, ...asked } = server.seen.at(-1)!.body;
    expect(asked).toEqual({ model: 'some-model', max_completion_tokens: 5, temperature: 1, top_p: 1 });
  });

  test('leaves temperature and top_p out for a model that takes neither, and refuses another one than 1', async () => {
    await open(
      refusal('`temperature` and `top_p` cannot both be specified for this model.'),
      refusal("Unsupported parameter: 'temperature' is not supported with this model."),
    );
    await ask();
    expect(server.seen.at(-1)!.body).not.toHaveProperty('temperature');
    expect(server.seen.at(-1)!.body).not.toHaveProperty('top_p');
    const warm = ask({ sampling: { ...DEFAULT_SAMPLING, temperature: 0.5 } });
    await expect(warm).rejects.toMatchObject({ reason: 'bad-sampling', retryable: false });
  });

  test('sends the further fields of --extra-body with each request, the first one too', async () => {
    await openWith({ extraBody: { reasoning_effort: 'low' } });
    await ask();
    const bodies = server.seen.flatMap(({ path, body }) => (path.endsWith('/chat/completions') ? [body] : []));
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body).toMatchObject({ reasoning_effort: 'low', model: 'some-model' });
  });

  test('sends the variables of the chat template as servers of open models take them', async () => {
    await openWith({ chatTemplateKwargs: { enable_thinking: false } });
    await ask({ variables: { enable_thinking: true } });
    const bodies = server.seen.flatMap(({ path, body }) => (path.endsWith('/chat/completions') ? [body] : []));
    expect(bodies.map(({ chat_template_kwargs: sent }) => sent)).toEqual([
      { enable_thinking: false },
      { enable_thinking: true },
    ]);
  });

  test('takes a model’s own top_k back where the server cannot use it', async () => {
    await open(refusal('top_k must be -1 (disable) or at least 1, got 0.'));
    await ask();
    expect(server.seen.at(-1)!.body).toMatchObject({ top_k: -1, logprobs: true, seed: 7, max_tokens: 5 });
  });

  const used = (usage: unknown): Fault => ({
    status: 200,
    body: { choices: [{ message: { content: 'Yes', reasoning_content: 'Hm \ud800' }, finish_reason: 'stop' }], usage },
  });

  test('keeps thoughts apart from the answer, and every count that the endpoint gives', async () => {
    await open();
    server.fail(
      used({
        ...{ prompt_tokens: 90, completion_tokens: 30, total_tokens: 120 },
        ...{ prompt_tokens_details: { cached_tokens: 64 }, completion_tokens_details: { reasoning_tokens: 25 } },
      }),
      used({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 40, reasoning_tokens: 31 }),
      used(null),
      used({
        prompt_tokens: 7,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 8 },
        reasoning_tokens: 3,
      }),
      used({ prompt_tokens: 7, completion_tokens_details: { reasoning_tokens: -1 } }),
    );
    expect(await ask()).toMatchObject({
      ...{ text: 'Yes', reasoning: 'Hm \ufffd' },
      usage: { input: 90, cached: 64, output: 30, reasoning: 25 },
    });
    // Thoughts that are counted in the total alone.
    expect((await ask()).usage).toEqual({ input: 7, output: 33, reasoning: 31 });
    expect(await ask()).not.toHaveProperty('usage');
    // A part that is greater than its whole is not known.
    expect((await ask()).usage).toEqual({ input: 7, output: 2 });
    // A count that cannot be is not known, either.
    expect((await ask()).usage).toEqual({ input: 7 });
  });

  test.each([
    ['vllm', { input: 16, output: 4 }],
    ['sglang', { input: 16, output: 3, reasoning: 0 }],
    ['transformers', { input: 16, output: 3 }],
  ] as const)('reads what a real %s counted', (name, usage) => {
    const place = { url: 'http://a', path: '/chat/completions', secret: null };
    expect(readCompletion(recorded[name], place)).toMatchObject({ usage, reasoning: '', finish: 'length' });
  });

  test('reads calls of tools in the spellings of several servers, and refuses calls that it did not offer', async () => {
    const place = { url: 'http://a', path: '/chat/completions', secret: null };
    const calls = [
      { id: 'a', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } },
      { index: 1, function: { name: 'add', arguments: { a: 2 } } },
      { id: '', function: { name: 'now', arguments: null } },
    ];
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const reply = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const toolCalls = [
      { id: 'a', name: 'add', arguments: '{"a": 1}' },
      { id: 'call_2', name: 'add', arguments: '{"a":2}' },
      { id: 'call_3', name: 'now', arguments: '{}' },
    ];
    expect(readCompletion(reply, place)).toMatchObject({ text: '', finish: 'stop', toolCalls });
    await open();
    server.fail({ status: 200, body: reply });
    await expect(ask()).rejects.toMatchObject({ reason: 'reply-malformed' });
  });
});
