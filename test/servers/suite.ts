// What a real server must show: the contract, many at once, pauses, aborts, new weights in the middle of a turn, and
// being killed. Prints figures; asserts no speed.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backend, GenerateRequest } from '../../inference/backend.ts';
import { createBackend } from '../../inference/index.ts';
import { aRequest, backendContract, undisturbed } from '../contract/backend.ts';
import { openTiny, TINY_FOLDER } from '../support/tiny.ts';
import { realServer, type RealKind, type RealServer } from './real-server.ts';

/** How each server is paused, given other weights, and set going. */
export interface Controls {
  readonly kind: RealKind;
  readonly seeded: boolean;
  readonly meaning: string;
  pause(server: RealServer, mode: 'abort' | 'keep'): Promise<unknown>;
  resume(server: RealServer): Promise<unknown>;
  /** Loads weights from a folder and calls them `version`. */
  update(server: RealServer, folder: string, version: string): Promise<unknown>;
}

const LONG = { stopTokenIds: [], maxNewTokens: 900 };

export function suite(controls: Controls): void {
  const { kind } = controls;
  let server: RealServer;
  const say = (line: string) => process.stdout.write(`${kind}: ${line}\n`);
  const open = () => createBackend(`${kind}:${server.url}`, { tokenizer: null, log: say });

  describe(`a real ${kind}`, () => {
    let backend: Backend;
    beforeAll(async () => {
      const startedAt = performance.now();
      server = await realServer(kind);
      say(`up at ${server.url} after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
      backend = await open().catch(async (error: unknown) => {
        await server.kill();
        throw error;
      });
      say(JSON.stringify(backend.facts));
    });
    afterAll(async () => {
      await backend?.close();
      await server?.kill();
    });
    const ask = async (question: string, changes: Partial<GenerateRequest> = {}) =>
      backend.generate(await aRequest(backend, question, changes), undisturbed());
    /** Runs for a while: no stop token ends it. */
    const long = () => ask('Count.', LONG);

    backendContract(kind, { open, question: 'What is 34 * 27?', seeded: controls.seeded });

    test('says at start what it serves and what its logprobs mean', async () => {
      expect(backend.facts).toMatchObject({
        name: 'tiny',
        vocabSize: 692,
        trainable: true,
        logprobs: controls.meaning,
      });
      const described = (await server.call('GET', '/v1/models')) as { data: { max_model_len: number }[] };
      say(`max_model_len ${described.data[0]!.max_model_len}, usable ${backend.facts.contextLength}`);
    });

    test('gives the whole budget where it just fits, and none is cut in silence', async () => {
      const { contextLength } = backend.facts;
      for (const room of [1, 2, 7]) {
        const contextIds = Array.from({ length: contextLength - room }, (_, i) => 10 + (i % 200));
        const sent = ask('', { contextIds, maxNewTokens: room, stopTokenIds: [] });
        if (kind === 'sglang' && room < 7) {
          // SGLang wants a few positions more for a prompt than for what comes after it, and says so.
          const outcome = await sent.catch((error: unknown) => error);
          if (outcome instanceof Error) expect(outcome).toMatchObject({ reason: 'context-length', retryable: false });
          else expect(outcome).toMatchObject({ finish: 'length', outputIds: { length: room } });
        } else expect(await sent).toMatchObject({ finish: 'length', outputIds: { length: room } });
      }
    });

    test('answers greedily as the embedded model does, with its logprobs', async () => {
      const embedded = await openTiny();
      let worst = 0;
      let compared = 0;
      let alike = 0;
      const questions = Array.from(
        { length: 20 },
        (_, i) => `What is ${((i * 37) % 90) + 10} * ${((i * 53) % 90) + 10}?`,
      );
      for (const question of questions) {
        const changes = { sampling: { temperature: 0, topP: 1, topK: 1e8 }, maxNewTokens: 64 };
        const theirs = await ask(question, changes);
        const ours = await embedded.generate(await aRequest(embedded, question, changes), undisturbed());
        const same = ours.outputIds.findIndex((id, i) => id !== theirs.outputIds[i]);
        const upTo = same < 0 ? ours.outputIds.length : same;
        if (same < 0 && ours.outputIds.length === theirs.outputIds.length) alike++;
        for (let i = 0; i < upTo; i++) worst = Math.max(worst, Math.abs(ours.logprobs[i]! - theirs.logprobs[i]!));
        compared += upTo;
      }
      await embedded.close();
      say(
        `greedy: ${alike} of ${questions.length} answers alike, ${compared} logprobs, max abs error ${worst.toExponential(2)}`,
      );
      expect(alike).toBeGreaterThanOrEqual(19);
      expect(worst).toBeLessThan(1e-4);
    });

    test('answers 32 at once, each its own', async () => {
      const startedAt = performance.now();
      const all = await Promise.all(
        Array.from({ length: 32 }, (_, i) =>
          ask(`What is ${i} + ${i}?`, { seed: i, maxNewTokens: 100 + i, stopTokenIds: [], requestId: `run/q${i}/0/1` }),
        ),
      );
      const seconds = (performance.now() - startedAt) / 1000;
      expect(all.map(({ outputIds }) => outputIds.length)).toEqual(Array.from({ length: 32 }, (_, i) => 100 + i));
      const tokens = all.reduce((sum, { outputIds }) => sum + outputIds.length, 0);
      say(`32 in flight: ${tokens} tokens in ${seconds.toFixed(2)} s, ${(tokens / seconds).toFixed(0)} a second`);
    });

    test('gives what it had when it is paused with abort, and goes on after it', async () => {
      const asked = long();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await controls.pause(server, 'abort');
      const { outputIds, logprobs, finish, versions } = await asked;
      await controls.resume(server);
      say(`paused with abort after ${outputIds.length} tokens`);
      expect(finish).toBe('abort');
      expect(outputIds.length).toBeGreaterThan(0);
      expect(logprobs).toHaveLength(outputIds.length);
      expect(versions.at(-1)!.end).toBe(outputIds.length);
      expect((await ask('What is 2 + 2?', { maxNewTokens: 5 })).outputIds.length).toBeGreaterThan(0);
    });

    test('tells for every token which weights made it, when they change under a turn', async () => {
      const asked = long();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await controls.pause(server, 'keep');
      await controls.update(server, TINY_FOLDER, 'step-1');
      await controls.resume(server);
      const { outputIds, versions } = await asked;
      say(`weights changed under a turn: ${JSON.stringify(versions)}`);
      expect(versions.map(({ versionLabel }) => versionLabel)).toEqual(['default', 'step-1']);
      expect(versions.map(({ version }) => version)).toEqual([0, 1]);
      expect(versions.at(-1)!.end).toBe(outputIds.length);
      expect((await ask('What is 2 + 2?')).versions[0]).toMatchObject({ version: 1, start: 0 });
    });

    test('a request of it that is aborted leaves it free at once', async () => {
      const controller = new AbortController();
      const request = await aRequest(backend, 'Count.', LONG);
      const asked = backend.generate(request, { signal: controller.signal });
      await expect.poll(() => running(server), { timeout: 10_000, interval: 20 }).toBe(1);
      const abortedAt = performance.now();
      controller.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
      await expect.poll(() => running(server), { timeout: 10_000, interval: 20 }).toBe(0);
      say(`free ${(performance.now() - abortedAt).toFixed(0)} ms after an abort`);
    });

    test('a server that is killed in the middle of a turn is a failure to try again', async () => {
      const outcome = long().catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await server.kill();
      expect(await outcome).toMatchObject({ name: 'ModelError', reason: 'server-reset', retryable: true });
      const next = await ask('What is 2 + 2?').catch((error: unknown) => error);
      expect(next).toMatchObject({ name: 'ModelError', reason: 'server-unreachable', retryable: true });
      say(`killed: ${(next as Error).message}`);
    });
  });
}

/** Requests that the engine works on, by its own count. */
async function running(server: RealServer): Promise<number> {
  const loads = (await server.call('GET', '/v1/loads').catch(() => null)) as {
    loads: { num_running_reqs: number }[];
  } | null;
  if (loads) return loads.loads[0]!.num_running_reqs;
  const metrics = String(await server.call('GET', '/metrics'));
  return Number(/^vllm:num_requests_running\S* (\S+)$/m.exec(metrics)?.[1]);
}
