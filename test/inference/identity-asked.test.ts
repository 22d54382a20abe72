// Servers while they are asked who they are: slow ones, ones that answer 503 for a while, and vLLM's own shapes of the questions
// (/v1/models, /tokenize, logprobs of a context).

import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend } from '../../inference/backend.ts';
import { ask, closeAll } from '../support/fleet-rig.ts';
import { behind, fleetOf, replaced, server } from '../support/identity-rig.ts';
import type { ModelServer } from '../support/model-server.ts';

afterEach(closeAll);

const KINDS = ['sglang', 'vllm'] as const;
/** The questions by which each kind is known: its name, its tokenizer, and the canary, which has no name of a request. */
const ASKED = /\/(?:v1\/models|model_info|get_model_info|get_server_info|server_info|tokenize)/;
const isCanary = (body: Record<string, unknown>): boolean =>
  body['rid'] === undefined && body['request_id'] === undefined;

const BUSY = { status: 503, body: { error: 'Service Unavailable' } };

/** A server that is asked again: the connection broke, and the same model is there. */
async function reborn(
  kind: (typeof KINDS)[number],
  others = 0,
): Promise<{ all: ModelServer[]; backend: TokenBackend }> {
  const all = await Promise.all(Array.from({ length: 1 + others }, () => server({ kind })));
  const backend = await fleetOf(all);
  for (let i = 0; i < 4 + 8 * others; i++) await ask(backend, `run/q${i}/0`);
  all[0] = await replaced(all[0]!, {});
  return { all, backend };
}

describe.each(KINDS)('a %s server that is asked who it is', (kind) => {
  test('has its answers given once it has said so, however long that takes', async () => {
    const { all, backend } = await reborn(kind);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let held = 0;
    all[0]!.hold = async (path, when) => {
      if (when === 'before' && ASKED.test(path)) {
        held++;
        await gate;
      }
    };
    let given = false;
    const answer = ask(backend, 'run/late/0').then(
      (reply) => ((given = true), reply),
      (error: unknown) => ((given = true), error),
    );
    // The connection that broke may fail the first request; a further one meets the slow server.
    await expect
      .poll(
        async () => {
          if (given && held === 0) void ask(backend, 'run/late/1').catch(() => undefined);
          return held;
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThan(0);
    open();
    await answer;
    await expect
      .poll(
        () =>
          ask(backend, 'run/late/2').then(
            (reply) => reply.outputIds.length,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBe(4);
    expect(backend.serverStatus!()[0]!.lastFailure ?? '').not.toContain('another model');
  });

  test.each(['its name', 'its canary'])('and answers 503 for %s is asked again, and is no stranger', async (what) => {
    const { all, backend } = await reborn(kind);
    const refused: string[] = [];
    all[0]!.instead = (path, body) => {
      const asked = what === 'its name' ? ASKED.test(path) : /generate|completions/.test(path) && isCanary(body);
      if (asked) refused.push(path);
      return asked ? BUSY : null;
    };
    const said: unknown[] = [];
    await expect
      .poll(
        async () => {
          await ask(backend, 'run/busy/0').catch((error: unknown) => said.push(error));
          return refused.length;
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThan(0);
    for (const error of said) expect(error).toMatchObject({ retryable: true });
    all[0]!.instead = null;
    await expect
      .poll(
        () =>
          ask(backend, 'run/busy/1').then(
            (reply) => reply.outputIds.length,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBe(4);
  });
});

describe('a vLLM', () => {
  test.each([true, false])(
    'with noise of quantised weights is no other model (its own endpoint: %s)',
    async (scaleOut) => {
      const all = [await server({ kind: 'vllm', scaleOut }), await server({ kind: 'vllm', scaleOut })];
      let changed = 0;
      const noisy = await behind(all[1]!, (text) =>
        text.replace(/("logprob":|"token_id:\d+":)(-\d[\d.e-]*)/g, (_, key, value) => {
          changed++;
          return `${key}${Number(value) - 0.05 * Math.random()}`;
        }),
      );
      await expect(fleetOf([all[0]!, noisy])).resolves.toBeDefined();
      expect(changed).toBeGreaterThan(50);
    },
  );

  test.each([true, false])(
    'with a canary of another model under its name is refused (its own endpoint: %s)',
    async (scaleOut) => {
      const all = [await server({ kind: 'vllm', scaleOut }), await server({ kind: 'vllm', scaleOut })];
      const other = await behind(all[1]!, (text) =>
        text.replace(/("logprob":|"token_id:\d+":)(-\d[\d.e-]*)/g, (_, key, value) => `${key}${Number(value) - 2}`),
      );
      await expect(fleetOf([all[0]!, other])).rejects.toMatchObject({ reason: 'mixed-fleet', retryable: false });
    },
  );

  test('that closes every connection is asked who it is, and answers', async () => {
    const one = await server({ kind: 'vllm' });
    const backend = await fleetOf([await behind(one, (text) => text, { connection: 'close' })]);
    for (let i = 0; i < 3; i++) expect((await ask(backend, `run/q${i}/0`)).outputIds).toHaveLength(4);
  });

  test('whose /tokenize is off is known by its files and its canary alone', async () => {
    const { identity } = (await fleetOf([await server({ kind: 'vllm', tokenize: null })])).facts;
    expect(identity).toMatchObject({ name: 'tiny', probe: null });
    expect(identity!.tokenizer).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(identity!.canary!.values).length).toBeGreaterThan(50);
  });
});
