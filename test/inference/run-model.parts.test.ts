// A run goes on with the model it was made with: a worker that is started on another day, and finds another model
// under the same name, refuses it by what differs.

import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openBackends } from '../../run/backends/backends.ts';
import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import { tinyIdentity } from '../../inference/index.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aRunRecord } from '../records/play.ts';
import { ask, closeAll, opened } from '../support/fleet-rig.ts';
import { asTokens } from '../support/kinds.ts';
import { modelServer } from '../support/model-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

async function runOf(
  model: string,
  identity: ModelIdentity | null | undefined,
  [out, run] = [mkdtempSync(join(tmpdir(), 'everturn-run-')), 'r'],
  part: Partial<RunRecord> = {},
): Promise<string> {
  const store = openFileStore(out, run);
  await store.put(
    'run',
    null,
    aRunRecord(run, settingsOf(model), { ...part, ...(identity !== undefined && { model: identity }) }),
  );
  return store.folder;
}

const settingsOf = (model: string) => ({ ...DEFAULT_SETTINGS, seed: 1, model });

function worker() {
  const backends = openBackends(() => undefined);
  opened.push(backends);
  return backends;
}

describe.each(['sglang', 'vllm'] as const)('a run with a %s server', (kind) => {
  test('refuses another model on another day, goes on with its own, and an older run with any', async () => {
    const shape = { kind, modelPath: TINY_FOLDER };
    const first = await modelServer(shape);
    const model = `${kind}:${first.url}`;
    const settings = settingsOf(model);
    const made = worker();
    const { identity } = (await made.get(settings, '/nowhere')).facts;
    const folder = await runOf(model, JSON.parse(JSON.stringify(identity)) as ModelIdentity);
    await made.close();
    await first.close();

    const impostor = await modelServer({ ...shape, model: 'other', port: first.port });
    const later = worker();
    await expect(later.get(settings, folder)).rejects.toMatchObject({
      reason: 'other-model',
      retryable: false,
      message: expect.stringMatching(/canary.*start of run "r"/),
    });
    for (const before of [null, undefined]) await later.get(settings, await runOf(model, before));
    await impostor.close();

    opened.push(await modelServer({ ...shape, port: first.port }));
    const again = worker();
    expect((await ask(asTokens(await again.get(settings, folder)), 'r/q/0')).outputIds).toHaveLength(4);
  });

  test('shares them with its evaluations, also when their weights have changed', async () => {
    const server = await modelServer({ kind, modelPath: TINY_FOLDER });
    opened.push(server);
    const settings = settingsOf(`${kind}:${server.url}`);
    const folder = await runOf(settings.model, null);
    const evaluates = { run: 'r', version: 1, line: 0, label: '1' };
    const evaluation = await runOf(settings.model, null, [`${folder}-eval`, 'r-eval-v1'], { evaluates });
    const backends = worker();
    const both = async () => [await backends.get(settings, folder), await backends.get(settings, evaluation)] as const;
    const before = await both();
    expect(before[1]).toBe(before[0]);
    const ledger = openWeightsLedger(folder);
    const weights = { label: '1', folder: '/ckpt', rewind: false, line: 0, contentHash: null };
    await ledger.declare({ ...weights, number: 1, version: 1, workflowId: 'w', declaredAt: 0 });
    await ledger.markLoaded(1);
    const after = await both();
    expect(after[1]).toBe(after[0]);
    expect(after[0]).not.toBe(before[0]);
  });
});

describe('the model of a run', () => {
  test('an embedded model of other weights, tokenizer or template is another one', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'everturn-model-'));
    cpSync(TINY_FOLDER, copy, { recursive: true });
    const model = `transformers:${copy}`;
    const backends = worker();
    const mine = await tinyIdentity();
    const folder = await runOf(model, { ...mine, name: null });
    const { identity } = (await backends.get(settingsOf(model), folder)).facts;
    expect(identity).toEqual({ ...mine, name: null });
    for (const [what, other] of [
      ['weights', { weights: '0'.repeat(64) }],
      ['tokenizer', { tokenizer: '0'.repeat(64) }],
      ['chat template', { template: '0'.repeat(64) }],
    ] as const) {
      const changed = await runOf(model, { ...mine, name: null, ...other });
      await expect(worker().get(settingsOf(model), changed)).rejects.toMatchObject({
        message: expect.stringContaining(`${what} (hash): 000000000000`),
      });
    }
    const file = join(copy, 'onnx/model.onnx');
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
    await expect(worker().get(settingsOf(model), folder)).rejects.toMatchObject({ reason: 'other-model' });
  }, 300_000);

  test('is asked under the name of an adapter that came into force while its servers were met', async () => {
    const server = await modelServer({ kind: 'vllm', modelPath: TINY_FOLDER, adapters: 'taken' });
    opened.push(server);
    const model = `vllm:${server.url}`;
    const folder = await runOf(model, null);
    const adapter = { name: 'everturn-1', base: 'default', hash: 'f'.repeat(64) };
    const entry = { number: 1, version: 1, label: '1', folder: '/ckpt/1', rewind: false, line: 0, contentHash: null };
    server.hold = async () => {
      server.hold = null;
      server.engine.adapters.set('everturn-1', '/ckpt/1');
      const ledger = openWeightsLedger(folder);
      await ledger.declare({ ...entry, workflowId: 'w', declaredAt: 0, adapter });
      await ledger.markLoaded(1);
    };
    const backend = asTokens(await worker().get(settingsOf(model), folder));
    expect((await ask(backend, 'r/q/0')).versions).toMatchObject([{ version: 1, versionLabel: '1' }]);
  });
});
