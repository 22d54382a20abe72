// What servers say of the experts that tokens went to: asked for from where they are new, taken as the server has them, refused
// where their size cannot be, and of a server that says none nothing is asked.

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, closeAll, fleet, serverOf } from '../support/fleet-rig.ts';
import type { Shape } from '../support/toy-engine.ts';
import { expertsOf, ROUTED_CONFIG, ROUTING } from '../support/toy-experts.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

/** The files of a mixture of experts, as far as a client reads them. */
function mixture(): string {
  const folder = join(testFolder(), 'moe');
  cpSync(TINY_FOLDER, folder, { recursive: true, filter: (path) => !/onnx|safetensors/.test(path) });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ vocab_size: 692, ...ROUTED_CONFIG }));
  return folder;
}
const NEW = { contextIds: [5, 6, 7, 8, 9], maxNewTokens: 4 };
const KINDS = [
  { kind: 'sglang', experts: true },
  { kind: 'vllm', experts: true },
  { kind: 'vllm', experts: true, scaleOut: false },
] as const satisfies Shape[];

describe.each(KINDS)('a server that says experts: %j', (shape) => {
  const type = shape.kind === 'vllm' ? 'uint8' : 'int32';

  test('gives those of the tokens from the place on that is asked for, to the token before the last', async () => {
    const server = await serverOf({ ...shape, modelPath: mixture() });
    const backend = await fleet([server], { recheckEvery: 0 });
    expect(backend.facts).toMatchObject({ givesExperts: true, identity: { hasExperts: true, givesExperts: true } });
    for (const expertsFrom of [0, 3, 4]) {
      const { outputIds, experts } = await ask(backend, 'run/q/0', { ...NEW, expertsFrom });
      const fed = [...NEW.contextIds, ...outputIds].slice(0, -1);
      const width = ROUTING * (type === 'uint8' ? 1 : 4);
      expect(experts).toMatchObject({ start: expertsFrom, rows: 8 - expertsFrom, layers: 2, perToken: 2, type });
      expect(Buffer.from(experts!.data)).toEqual(expertsOf(fed, type).subarray(expertsFrom * width));
    }
    expect(await ask(backend, 'run/q/0', NEW)).not.toHaveProperty('experts');
  });

  test('is refused for another size than its tokens, which says so', async () => {
    const server = await serverOf({ ...shape, modelPath: mixture() });
    const backend = await fleet([server], { recheckEvery: 0 });
    server.fail({
      change(whole: Record<string, unknown>) {
        const { choices, meta_info: meta } = whole as { choices?: [Routed]; meta_info?: Routed };
        const said = meta ?? choices![0];
        said.routed_experts = Buffer.from(said.routed_experts, 'base64').subarray(0, -4).toString('base64');
      },
    });
    await expect(ask(backend, 'run/q/0', { ...NEW, expertsFrom: 0 })).rejects.toMatchObject({
      reason: 'reply-malformed',
      retryable: true,
      message: expect.stringMatching(/bytes of experts for 8 tokens/),
    });
  });
});

interface Routed {
  routed_experts: string;
}

describe('experts that are not said', () => {
  test('an answer of a server that says none has none, beside one that says them, and the model is not said to give them', async () => {
    const modelPath = mixture();
    const both = [
      await serverOf({ kind: 'sglang', experts: true, modelPath }),
      await serverOf({ kind: 'sglang', modelPath }),
    ];
    const backend = await fleet(both, { fleetPolicy: 'round_robin', recheckEvery: 0 });
    expect(backend.facts.givesExperts).toBe(true);
    expect(backend.facts.identity).not.toHaveProperty('givesExperts');
    const found = [];
    for (const name of ['a', 'b', 'c', 'd'])
      found.push(await ask(backend, `run/${name}/0`, { ...NEW, expertsFrom: 0 }));
    expect(new Set(found.map(({ server, experts }) => `${server === both[0]!.url} ${experts !== undefined}`))).toEqual(
      new Set(['true true', 'false false']),
    );
  });

  test('a model whose config.json counts no experts is asked for none', async () => {
    const server = await serverOf({ kind: 'sglang', experts: true });
    const backend = await fleet([server], { recheckEvery: 0 });
    expect(backend.facts.givesExperts).toBe(false);
    await ask(backend, 'run/q/0', { ...NEW, expertsFrom: 0 });
    expect(server.seen.at(-1)!.body).not.toHaveProperty('return_routed_experts');
  });
});
