// Servers while they are asked who they are: slow ones, ones that answer 503 for a while, and vLLM's own shapes of the questions
// (/v1/models, logprobs of a context).

import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend } from '../../inference/backend.ts';
import { ask, closeAll } from '../support/fleet-rig.ts';
import { behind, fleetOf, server } from '../support/identity-rig.ts';
import type { ModelServer } from '../support/model-server.ts';

afterEach(closeAll);

const KINDS = ['sglang', 'vllm'] as const;
/** The questions by which each kind is known: its name, and the canary, which has no name of a request. */
const ASKED = /\/(?:v1\/models|model_info|get_model_info|get_server_info|server_info)/;
const isCanary = (body: Record<string, unknown>): boolean =>
  body['rid'] === undefined && body['request_id'] === undefined;

const BUSY = { status: 503, body: { error: 'Service Unavailable' } };

/** A fleet whose server is down: it is asked who it is before it is asked for anything else. */
async function down(kind: (typeof KINDS)[number]): Promise<{ one: ModelServer; backend: TokenBackend }> {
  const one = await server({ kind });
  const backend = await fleetOf([one]);
  one.instead = () => ({ status: 500, body: {} });
  while (backend.serverStatus!()[0]!.state !== 'down') await ask(backend, 'run/q/0').catch(() => undefined);
  return { one, backend };
}

async function isBack(backend: TokenBackend): Promise<void> {
  const outcome = () => ask(backend, 'run/back/0').catch((error: unknown) => error);
  await expect.poll(outcome, { timeout: 30_000 }).toMatchObject({ outputIds: { length: 4 } });
}

describe.each(KINDS)('a %s server that is asked who it is', (kind) => {
  test('is asked for answers once it has said so, however long that takes', async () => {
    const { one, backend } = await down(kind);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let held = 0;
    one.hold = async (path, when) => {
      if (when === 'before' && ASKED.test(path)) {
        held++;
        await gate;
      }
    };
    one.instead = null;
    await expect.poll(() => held, { timeout: 30_000 }).toBeGreaterThan(0);
    await expect(ask(backend, 'run/early/0')).rejects.toMatchObject({ reason: 'server-unreachable' });
    open();
    await isBack(backend);
    expect(backend.serverStatus!()[0]!.lastFailure ?? '').not.toContain('another model');
  });

  test.each(['its name', 'its canary'])('and answers 503 for %s is asked again, and is no stranger', async (what) => {
    const { one, backend } = await down(kind);
    let refused = 0;
    one.instead = (path, body) => {
      const asked = what === 'its name' ? ASKED.test(path) : /generate|completions/.test(path) && isCanary(body);
      if (asked) refused++;
      return asked ? BUSY : null;
    };
    await expect.poll(() => refused, { timeout: 30_000 }).toBeGreaterThan(0);
    await expect(ask(backend, 'run/busy/0')).rejects.toMatchObject({ retryable: true });
    one.instead = null;
    await isBack(backend);
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

  test('is known by its name, its files and its canary', async () => {
    const { identity } = (await fleetOf([await server({ kind: 'vllm' })])).facts;
    expect(identity).toMatchObject({ name: 'tiny', tokenizer: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(Object.keys(identity!.canary!.values).length).toBeGreaterThan(50);
  });
});
