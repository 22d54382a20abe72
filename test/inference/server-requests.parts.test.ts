// What a backend says to a server, and finds out about it, at start and with every request.

import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend, GenerateRequest } from '../../inference/backend.ts';
import { ask as askFleet, backendOf, closeAll, serverAndBackend, serverOf } from '../support/fleet-rig.ts';
import type { Shape } from '../support/toy-engine.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

const start = (shape: Shape) => serverAndBackend(shape, { recheckEvery: 0 });
const ask = (backend: TokenBackend, changes: Partial<GenerateRequest>) => askFleet(backend, 'run/q/0', changes);

describe('a request to a server', () => {
  test.each([
    ['sglang', 'temperature', 'temperature'],
    ['sglang', 'raw', 'raw'],
    ['vllm', 'raw', 'raw'],
    ['vllm', 'policy', 'policy'],
  ] as const)('finds out at start that a %s means %s', async (kind, meaning, expected) => {
    for (const scaleOut of [true, false]) {
      const { backend } = await start({ kind, meaning, scaleOut });
      expect(backend.facts.logprobs).toBe(expected);
    }
  });

  test('all settings that a server could have other defaults for are said, by names it knows', async () => {
    for (const kind of ['sglang', 'vllm'] as const) {
      const { server, backend } = await start({ kind });
      await ask(backend, { sampling: { temperature: 0.7, topP: 0.9, topK: 50, minP: 0.05 }, stopTokenIds: [2] });
      const { sampling_params: params } = server.seen.findLast(({ body }) => 'sampling_params' in body)!.body;
      const budget = kind === 'sglang' ? { max_new_tokens: 4 } : { max_tokens: 4, logprobs: 0 };
      expect(params).toMatchObject({
        n: 1,
        temperature: 0.7,
        top_p: 0.9,
        top_k: 50,
        min_p: 0.05,
        frequency_penalty: 0,
        presence_penalty: 0,
        repetition_penalty: 1,
        stop_token_ids: [2],
        ignore_eos: false,
        ...budget,
      });
    }
  });

  test('the tokenizer is the one that is named, else the server’s own, else asked for', async () => {
    const nowhere = await serverOf({ kind: 'sglang', modelPath: '/nowhere/model' });
    await expect(backendOf(nowhere)).rejects.toMatchObject({
      reason: 'no-tokenizer',
      retryable: false,
      fix: expect.stringContaining('--tokenizer'),
    });
    expect((await backendOf(nowhere, { tokenizer: TINY_FOLDER })).facts.vocabSize).toBe(692);
  });

  test('a rollout’s requests are marked for routers, the same on every turn', async () => {
    const { server, backend } = await start({ kind: 'vllm' });
    for (const requestId of ['run/a/0/1', 'run/a/0/2', 'run/b/0/1']) await ask(backend, { requestId });
    const [first, second, other] = server.seen.slice(-3).map(({ headers }) => headers['x-session-id']);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  test('the next chunk of an answer draws by other random numbers than the one before, the same each time', async () => {
    for (const [kind, name] of [
      ['sglang', 'sampling_seed'],
      ['vllm', 'seed'],
    ] as const) {
      const { server, backend } = await start({ kind });
      const prefer = { server: server.url, version: 0 };
      await ask(backend, { seed: 42 });
      await ask(backend, { seed: 42, contextIds: [5, 6, 7, 8], prefer });
      await ask(backend, { seed: 42, contextIds: [5, 6, 7, 8, 9], prefer });
      await ask(backend, { seed: 42, contextIds: [5, 6, 7, 8, 9], prefer });
      const [first, second, third, again] = server.seen.slice(-4).map(({ body }) => body.sampling_params![name]);
      expect(first).toBe(42);
      expect(again).toBe(third);
      expect(new Set([first, second, third]).size).toBe(3);
    }
  });
});
