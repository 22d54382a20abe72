// A fleet is of one model, whatever its servers call themselves, and stays of that one while servers come and go.

import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend } from '../../inference/backend.ts';
import { ask, closeAll } from '../support/fleet-rig.ts';
import { fleetOf, replaced, server } from '../support/identity-rig.ts';
import type { ModelServer } from '../support/model-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import type { Shape } from '../support/toy-engine.ts';

afterEach(closeAll);

const SHAPES: (Pick<Shape, 'kind' | 'scaleOut' | 'spans'> & { of: string })[] = [
  { of: 'sglang', kind: 'sglang' },
  { of: 'sglang without spans', kind: 'sglang', spans: false },
  { of: 'vllm', kind: 'vllm' },
  { of: 'vllm by completions', kind: 'vllm', scaleOut: false },
];

/** The model's folder again, with other files. */
function folder(change: (tokenizer: Tokenizer) => unknown, spaces = 0): string {
  const path = mkdtempSync(join(tmpdir(), 'everturn-model-'));
  cpSync(TINY_FOLDER, path, { recursive: true, filter: (name) => !/onnx|safetensors/.test(name) });
  const file = join(path, 'tokenizer.json');
  const tokenizer = JSON.parse(readFileSync(file, 'utf8')) as Tokenizer;
  writeFileSync(file, JSON.stringify(change(tokenizer) ?? tokenizer, null, spaces));
  return path;
}

interface Tokenizer {
  readonly model: { vocab: Record<string, number>; merges: readonly unknown[] };
}

function exchange({ model: { vocab } }: Tokenizer, a: number, b: number): void {
  for (const [token, id] of Object.entries(vocab)) if (id === a || id === b) vocab[token] = a + b - id;
}

/** Its process ends, and the fleet has noticed. */
async function untilDown(one: ModelServer, backend: TokenBackend): Promise<void> {
  await one.close();
  const isDown = () => backend.serverStatus!().some(({ url, state }) => url === one.url && state === 'down');
  for (let i = 0; !isDown(); i++) await ask(backend, `run/q${i}/0`).catch(() => undefined);
}

const refusal = (opening: Promise<TokenBackend>) =>
  opening.then(
    () => null,
    (error: unknown) => error as Error,
  );

describe('the identity of a model', () => {
  for (const { of, ...shape } of SHAPES) {
    describe(`a fleet of ${of}`, () => {
      test('is refused where one server is another model of the same name and vocabulary', async () => {
        const all = [await server(shape), await server({ ...shape, model: 'other' })];
        const error = await refusal(fleetOf(all));
        expect(error).toMatchObject({ reason: 'mixed-fleet', retryable: false });
        for (const said of [all[0]!.url, all[1]!.url, 'canary', '"default"']) {
          if (of !== 'vllm by completions' || said !== '"default"') expect(error!.message).toContain(said);
        }
      });

      test('is refused where a server has another name', async () => {
        const error = await refusal(fleetOf([await server(shape), await server({ ...shape, name: 'large' })]));
        expect(error).toMatchObject({ reason: 'mixed-fleet' });
        expect(error!.message).toMatch(/name: "tiny" at http\S+, "large" at http/);
      });

      test('goes on with the others where one comes back as another model, and with the right one when it is back', async () => {
        const all = [await server(shape), await server(shape)];
        const backend = await fleetOf(all);
        const state = () => backend.serverStatus!()[0]!;
        for (let i = 0; state().version === null; i++) await ask(backend, `run/q${i}/0`);
        await untilDown(all[0]!, backend);
        const impostor = await server({ ...all[0]!.engine.shape, model: 'other', port: all[0]!.port });
        await expect.poll(() => state().lastFailure).toMatch(/is another model than this run's: canary/);
        for (let i = 0; i < 24; i++) expect((await ask(backend, `run/q${i}/0`)).server).toBe(all[1]!.url);
        await replaced(impostor, { model: '' });
        await expect.poll(() => state().state).not.toBe('down');
        expect((await ask(backend, 'x', { prefer: { server: all[0]!.url, version: 0 } })).server).toBe(all[0]!.url);
      });

      test('fails by name where no server has the model of the run any more', async () => {
        const one = await server(shape);
        const backend = await fleetOf([one]);
        await untilDown(one, backend);
        await server({ ...one.engine.shape, model: 'other', port: one.port });
        const outcome = () => ask(backend, 'run/q/0').catch((error: unknown) => error);
        await expect.poll(outcome).toMatchObject({ reason: 'other-model', retryable: false });
      });
    });
  }
});

describe('tokenizers', () => {
  test('that differ by an exchange of two ids are found by their files', async () => {
    const paths = [folder(() => undefined), folder((tokenizer) => exchange(tokenizer, 600, 601))];
    const all = await Promise.all(paths.map((modelPath) => server({ kind: 'sglang', modelPath })));
    const error = await refusal(fleetOf(all));
    expect(error).toMatchObject({ reason: 'mixed-fleet' });
    expect(error!.message).toContain('tokenizer (hash)');
  });

  test('are one, wherever they lie and however they are written', async () => {
    const pairs = (tokenizer: Tokenizer) => ({
      ...Object.fromEntries(Object.entries(tokenizer).toReversed()),
      model: {
        ...Object.fromEntries(Object.entries(tokenizer.model).toReversed()),
        merges: tokenizer.model.merges.map((merge) => (typeof merge === 'string' ? merge.split(' ') : merge)),
      },
    });
    const all = await Promise.all(
      [TINY_FOLDER, folder(pairs, 2)].map((modelPath) => server({ kind: 'sglang', modelPath, name: modelPath })),
    );
    expect((await fleetOf(all)).facts.identity!.name).toBeNull();
  });
});
