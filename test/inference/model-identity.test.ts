// A fleet is of one model, whatever its servers call themselves, and stays of that one while servers come and go.

import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { TokenBackend } from '../../inference/backend.ts';
import { loadTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { ask, closeAll } from '../support/fleet-rig.ts';
import { fleetOf, replaced, server } from '../support/identity-rig.ts';
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

      test('does not give an answer of a server that was exchanged between two requests', async () => {
        const first = await server(shape);
        const backend = await fleetOf([first]);
        await ask(backend, 'run/q/0');
        await replaced(first, { model: 'other' });
        const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => ask(backend, `run/q${i}/0`)));
        expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
        await expect
          .poll(() => ask(backend, 'run/q/0').catch((e: unknown) => e))
          .toMatchObject({ reason: 'other-model', retryable: false, message: expect.stringContaining('canary') });
      });

      test('goes on with the others, and with the right one when it is back', async () => {
        const all = [await server(shape), await server(shape)];
        const backend = await fleetOf(all);
        await Promise.all(Array.from({ length: 16 }, (_, i) => ask(backend, `run/q${i}/0`)));
        const impostor = await replaced(all[0]!, { model: 'other' });
        const servers = new Set<string | null>();
        for (let i = 0; i < 24; i++) {
          const got = await ask(backend, `run/q${i}/0`).catch((error: unknown) => {
            expect(error).toMatchObject({ retryable: true });
            return null;
          });
          if (got) servers.add(got.server);
        }
        expect([...servers]).toEqual([all[1]!.url]);
        await expect.poll(() => backend.serverStatus!()[0]!.lastFailure).toContain('another model');
        await replaced(impostor, { model: '' });
        await expect.poll(() => backend.serverStatus!()[0]!.state).not.toBe('down');
        expect((await ask(backend, 'x', { prefer: { server: all[0]!.url, version: 0 } })).server).toBe(all[0]!.url);
      });
    });
  }

  for (const { of, ...shape } of SHAPES.slice(0, 3)) {
    test(`${of}: weights that differ under one version’s word are refused, and an honest update is not`, async () => {
      const all = [await server(shape), await server(shape)];
      const backend = await fleetOf(all);
      for (const one of all) one.engine.version = 'step-1';
      const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => ask(backend, `run/q${i}/0`)));
      expect(new Set(answers.map((answer) => answer.server)).size).toBe(2);
      all[0]!.engine.version = 'step-2';
      all[1]!.engine.version = 'step-3';
      all[1]!.engine.name('step-2');
      const outcomes = await Promise.allSettled(Array.from({ length: 16 }, (_, i) => ask(backend, `run/q${i}/0`)));
      const given = outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value.server] : []));
      expect(new Set(given).size).toBe(1);
      const strange = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason as Error] : []));
      expect(strange.length).toBeGreaterThan(0);
      expect(strange[0]!.message).toContain('version "step-2"');
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

  test.each(['sglang', 'vllm'] as const)(
    'of which a %s exchanges any two ids are found by its answers',
    async (kind) => {
      const tiny = await loadTokenizer(TINY_FOLDER);
      const honest = async (text: string) => tiny.encodeRendered(text);
      const fine = await fleetOf([await server({ kind, tokenize: honest })], TINY_FOLDER);
      expect(fine.facts.identity!.probe).toMatch(/^[0-9a-f]{64}$/);
      for (const [a, b] of [
        [600, 601],
        [300, 690],
        [40, 41],
      ] as const) {
        const swapped = async (text: string) =>
          (await tiny.encodeRendered(text)).map((id) => (id === a ? b : id === b ? a : id));
        const error = await refusal(fleetOf([await server({ kind, tokenize: swapped })], TINY_FOLDER));
        expect(error).toMatchObject({ reason: 'other-tokenizer' });
        expect(error!.message).toMatch(/begins with the ids \d+.* there, \d+.* here/);
      }
    },
  );
});
