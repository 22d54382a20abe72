// A fleet is of one model, whatever its servers call themselves, and stays of that one while servers come and go: each is asked who
// it is, by its name, its tokenizer's files and one canary.

import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend } from '../../inference/backend.ts';
import { ask, behind, closeAll, fleet, replaced, serverOf } from '../support/fleet-rig.ts';
import type { ModelServer } from '../support/model-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import type { Shape } from '../support/toy-engine.ts';

afterEach(closeAll);

const SHAPES: Shape[] = [
  { kind: 'sglang' },
  { kind: 'sglang', spans: false },
  { kind: 'vllm' },
  { kind: 'vllm', scaleOut: false },
];
const SOON = { coolDownMs: 20, longestCoolDownMs: 50 };
const fleetOf = (all: readonly ModelServer[]) => fleet(all, {}, SOON);
const serversOf = (...shapes: Shape[]) => Promise.all(shapes.map(serverOf));

async function untilDown(one: ModelServer, backend: TokenBackend): Promise<void> {
  const isDown = () => backend.serverStatus!().some(({ url, state }) => url === one.url && state === 'down');
  for (let i = 0; !isDown(); i++) await ask(backend, `run/q${i}/0`).catch(() => undefined);
}
const answerOrError = (backend: TokenBackend) => ask(backend, 'run/q/0').catch((error: unknown) => error);

describe.each(SHAPES)('a fleet of %j', (shape) => {
  test('is refused where one server is another model of the same name, or has another name', async () => {
    const all = await serversOf(shape, { ...shape, model: 'other' });
    const message = expect.stringMatching(new RegExp(`canary.*${all[0]!.url}.*${all[1]!.url}`)) as string;
    await expect(fleetOf(all)).rejects.toMatchObject({ reason: 'mixed-fleet', retryable: false, message });
    await expect(fleetOf(await serversOf(shape, { ...shape, name: 'large' }))).rejects.toMatchObject({
      reason: 'mixed-fleet',
      message: expect.stringMatching(/name: "tiny" at http\S+, "large" at http/) as string,
    });
  });

  test('goes on with the others where one comes back as another model, and with the right one; alone it fails by name', async () => {
    const all = await serversOf(shape, shape);
    const backend = await fleetOf(all);
    const state = () => backend.serverStatus!()[0]!;
    for (let i = 0; state().version === null; i++) await ask(backend, `run/q${i}/0`);
    await all[0]!.close();
    await untilDown(all[0]!, backend);
    const impostor = await serverOf({ ...all[0]!.engine.shape, model: 'other', port: all[0]!.port });
    await expect.poll(() => state().lastFailure).toMatch(/is another model than this run's: canary/);
    for (let i = 0; i < 8; i++) expect((await ask(backend, `run/q${i}/0`)).server).toBe(all[1]!.url);
    await replaced(impostor, { model: '' });
    await expect.poll(() => state().state).not.toBe('down');
    expect((await ask(backend, 'x', { prefer: { server: all[0]!.url, version: 0 } })).server).toBe(all[0]!.url);

    const one = await serverOf(shape);
    const alone = await fleetOf([one]);
    await one.close();
    await untilDown(one, alone);
    await serverOf({ ...one.engine.shape, model: 'other', port: one.port });
    await expect.poll(() => answerOrError(alone)).toMatchObject({ reason: 'other-model', retryable: false });
  });
});

/** The questions by which each kind is known: its name, and the canary, which has no name of a request. */
const ASKED = /\/(?:v1\/models|model_info|get_model_info|get_server_info|server_info)/;
const isCanary = (path: string, body: Record<string, unknown>): boolean =>
  /generate|completions/.test(path) && body['rid'] === undefined && body['request_id'] === undefined;

describe.each(['sglang', 'vllm'] as const)('a %s server that is asked who it is', (kind) => {
  /** A fleet whose server is down: it is asked who it is before it is asked for anything else. */
  async function down(): Promise<{ one: ModelServer; backend: TokenBackend }> {
    const one = await serverOf({ kind });
    const backend = await fleetOf([one]);
    one.instead = () => ({ status: 500, body: {} });
    await untilDown(one, backend);
    return { one, backend };
  }
  const isBack = async (backend: TokenBackend) =>
    await expect.poll(() => answerOrError(backend)).toMatchObject({ outputIds: { length: 4 } });

  test('is asked for answers once it has said so, however long that takes', async () => {
    const { one, backend } = await down();
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let held = 0;
    one.hold = async (path, when) => {
      if (when === 'after' || !ASKED.test(path)) return;
      held++;
      await gate;
    };
    one.instead = null;
    await expect.poll(() => held).toBeGreaterThan(0);
    await expect(ask(backend, 'run/early/0')).rejects.toMatchObject({ reason: 'server-unreachable' });
    open();
    await isBack(backend);
    expect(backend.serverStatus!()[0]!.lastFailure ?? '').not.toContain('another model');
  });

  test.each(['its name', 'its canary'])('and answers 503 for %s is asked again, and is no stranger', async (what) => {
    const { one, backend } = await down();
    let refused = 0;
    one.instead = (path, body) => {
      if (!(what === 'its name' ? ASKED.test(path) : isCanary(path, body))) return null;
      refused++;
      return { status: 503, body: { error: 'Service Unavailable' } };
    };
    await expect.poll(() => refused).toBeGreaterThan(0);
    await expect(ask(backend, 'run/busy/0')).rejects.toMatchObject({ retryable: true });
    one.instead = null;
    await isBack(backend);
  });
});

describe('the canary of a vLLM', () => {
  test.each([true, false])(
    'takes noise of quantised weights, and no other model (its own endpoint: %s)',
    async (scaleOut) => {
      const shape = { kind: 'vllm', scaleOut } as const;
      const [one, two] = (await serversOf(shape, shape)) as [ModelServer, ModelServer];
      let changed = 0;
      const off = (by: () => number) =>
        behind(two, (text) =>
          text.replace(/("logprob":|"token_id:\d+":)(-\d[\d.e-]*)/g, (_, key, value) => {
            changed++;
            return `${key}${Number(value) - by()}`;
          }),
        );
      expect((await fleetOf([one, await off(() => 0.05 * Math.random())])).facts.identity).toMatchObject({
        name: 'tiny',
      });
      expect(changed).toBeGreaterThan(50);
      await expect(fleetOf([one, await off(() => 2)])).rejects.toMatchObject({
        reason: 'mixed-fleet',
        retryable: false,
      });
    },
  );
});

interface Tokenizer {
  readonly model: { vocab: Record<string, number>; merges: readonly unknown[] };
}

/** The model's folder again, with another tokenizer.json. */
function folder(change: (tokenizer: Tokenizer) => unknown): string {
  const path = mkdtempSync(join(tmpdir(), 'everturn-model-'));
  cpSync(TINY_FOLDER, path, { recursive: true, filter: (name) => !/onnx|safetensors/.test(name) });
  const file = join(path, 'tokenizer.json');
  const tokenizer = JSON.parse(readFileSync(file, 'utf8')) as Tokenizer;
  writeFileSync(file, JSON.stringify(change(tokenizer) ?? tokenizer, null, 2));
  return path;
}

describe('tokenizers', () => {
  test('that differ by an exchange of two ids are found by their files', async () => {
    const exchanged = folder(({ model: { vocab } }) => {
      for (const [token, id] of Object.entries(vocab)) if (id === 600 || id === 601) vocab[token] = 1201 - id;
    });
    const all = await serversOf({ kind: 'sglang' }, { kind: 'sglang', modelPath: exchanged });
    const message = expect.stringContaining('tokenizer (hash)') as string;
    await expect(fleetOf(all)).rejects.toMatchObject({ reason: 'mixed-fleet', message });
  });

  test('are one, wherever they lie and however they are written', async () => {
    const turned = (object: object) => Object.fromEntries(Object.entries(object).toReversed());
    const written = folder(({ model, ...rest }) => ({
      ...turned(rest),
      model: {
        ...turned(model),
        merges: model.merges.map((merge) => (typeof merge === 'string' ? merge.split(' ') : merge)),
      },
    }));
    const all = await serversOf(
      ...[TINY_FOLDER, written].map((modelPath) => ({ kind: 'sglang' as const, modelPath, name: modelPath })),
    );
    expect((await fleetOf(all)).facts.identity!.name).toBeNull();
  });
});
