// The workflow `updateWeights` on a real Temporal server, against servers that speak as SGLang and vLLM do.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { WeightsInput, WeightsProgress, WeightsResult } from '../../domain/weights/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { startUpdate, updateProgress, updateResult } from '../../client/temporal/weights.ts';
import { recordHistory } from '../histories/history-file.ts';
import { aRunRecord } from '../records/play.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ answer: () => '' });
  await rig.startWorker();
});
afterAll(() => rig.close());

const opened: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

let runs = 0;
/** A run over so many servers. */
async function aRun(kind: 'sglang' | 'vllm', count: number, shape: object = {}) {
  const servers = await Promise.all(Array.from({ length: count }, () => modelServer({ kind, ...shape })));
  opened.push(...servers);
  const run = `run-${++runs}`;
  await putRun(run, `${kind}:${servers.map(({ url }) => url).join(',')}`);
  return { run, servers };
}

const putRun = (run: string, model: string) =>
  openFileStore(rig.out, run).put('run', null, aRunRecord(run, completeSettings(run, { model })));

const session = () => ({ client: rig.client, address: '', namespace: rig.namespace, close: async () => undefined });
const inputOf = (run: string, version: number, more: Partial<WeightsInput> = {}): WeightsInput => ({
  run,
  out: rig.out,
  version,
  weights: `/ckpt/step-${version}`,
  ...more,
});
async function update(run: string, version: number, more: Partial<WeightsInput> = {}): Promise<WeightsResult> {
  return updateResult(session(), await startUpdate(session(), inputOf(run, version, more)));
}
const states = ({ servers }: WeightsResult | WeightsProgress) => servers.map(({ state }) => state);
const ledgerOf = (run: string) => openWeightsLedger(join(rig.out, run));
const posts = ({ seen }: ModelServer) => seen.filter(({ method }) => method === 'POST').map(({ path }) => path);

describe('an update of weights', () => {
  test.each(['sglang', 'vllm'] as const)('gives every %s the weights under their version, once', async (kind) => {
    const { run, servers } = await aRun(kind, 3);
    const done = await update(run, 7);
    expect(done).toMatchObject({ run, version: 7, label: '7', weights: '/ckpt/step-7', state: 'whole' });
    expect(done.servers).toMatchObject(
      servers.map(({ url }) => ({ url, state: 'updated', before: 'default', now: '7' })),
    );
    for (const { engine } of servers) expect(engine).toMatchObject({ version: '7', paused: false });
    expect(await ledgerOf(run).current()).toMatchObject({ number: 1, version: 7, folder: '/ckpt/step-7', line: 0 });

    const before = servers.map((server) => posts(server).length);
    expect(states(await update(run, 7))).toEqual(['already', 'already', 'already']);
    // Each is only told to continue.
    expect(servers.map((server) => posts(server).length)).toEqual(before.map((n) => n + 1));
    expect((await ledgerOf(run).read()).entries).toHaveLength(1);
  });

  test('is refused by name where its version goes back, unless that is declared', async () => {
    const { run, servers } = await aRun('sglang', 1);
    await update(run, 7);
    const before = posts(servers[0]!).length;
    await expect(update(run, 6)).rejects.toMatchObject({ name: 'UsageError', reason: 'version-goes-back' });
    await expect(update(run, 7, { weights: '/ckpt/other' })).rejects.toMatchObject({ reason: 'version-goes-back' });
    expect(posts(servers[0]!)).toHaveLength(before);
    expect(await update(run, 5, { rewind: true })).toMatchObject({ label: 'r1:v5', state: 'whole' });
    expect(await update(run, 6)).toMatchObject({ label: 'r1:v6', state: 'whole' });
    expect(servers[0]!.engine.version).toBe('r1:v6');
    expect(await update(run, 6)).toMatchObject({ label: 'r1:v6', servers: [{ state: 'already' }] });
  });

  test('that fails is stopped at the first server, takes no version, and may be repeated from another folder', async () => {
    const { run, servers } = await aRun('sglang', 2);
    const started = await startUpdate(session(), inputOf(run, 7, { weights: '/ckpt/nonexistent' }));
    const failed = await updateResult(session(), started);
    await recordHistory(rig.client, 'weights-refused', started);
    expect(failed).toMatchObject({ state: 'none', servers: [{ state: 'refused' }, { state: 'not-asked' }] });
    expect(failed.servers[0]!.error).toContain('/ckpt/nonexistent');
    expect(servers.map(({ engine }) => engine.paused)).toEqual([false, false]);
    expect(await ledgerOf(run).current()).toBeNull();
    expect(await update(run, 7)).toMatchObject({ state: 'whole' });
  });

  test('names the servers that lack the version, in its result and in the folder, and finds them when they are back', async () => {
    const { run, servers } = await aRun('sglang', 2);
    const { port } = servers[1]!;
    await servers[1]!.close();
    const done = await update(run, 7);
    expect(done).toMatchObject({ state: 'partial', servers: [{ state: 'updated' }, { state: 'unreached' }] });
    expect(await ledgerOf(run).progress(1)).toMatchObject({ state: 'partial', servers: done.servers });
    const back = await modelServer({ kind: 'sglang', port });
    opened.push(back);
    expect(states(await update(run, 7))).toEqual(['already', 'updated']);
    expect(back.engine).toMatchObject({ version: '7', paused: false });
  });

  test('that is cancelled finishes the server that it began, and begins no other', async () => {
    const { run, servers } = await aRun('sglang', 3);
    const handle = await begun(run, 7, servers[0]!);
    await handle.cancel();
    servers[0]!.silent = false;
    await expect(handle.result()).rejects.toThrow();
    const progress = await ledgerOf(run).progress(1);
    expect(progress).toMatchObject({ state: 'cancelled' });
    expect(states(progress!).slice(1)).toEqual(['not-asked', 'not-asked']);
    for (const { engine } of servers) expect(engine.paused).toBe(false);
  });

  test('one at a time: a later version waits, and the versions of the servers are those of the last', async () => {
    const { run, servers } = await aRun('sglang', 2);
    const all = await Promise.all([1, 2, 3].map(async (n) => update(run, n).catch((error: unknown) => error)));
    for (const each of all) {
      if (each instanceof Error) expect(each).toMatchObject({ reason: 'version-goes-back' });
      else expect(['whole', 'superseded', 'none', 'partial']).toContain((each as WeightsResult).state);
    }
    const current = (await ledgerOf(run).current())!;
    expect(servers.map(({ engine }) => [engine.version, engine.paused])).toEqual([
      [current.label, false],
      [current.label, false],
    ]);
  });

  test('of servers that are none of the run, or of none, is refused before anybody is asked', async () => {
    const { run, servers } = await aRun('sglang', 1);
    for (const foreign of [['http://127.0.0.1:1'], [], ['nonsense'], 7]) {
      const asked = update(run, 7, { servers: foreign as string[] });
      await expect(asked).rejects.toMatchObject({ reason: 'not-allowed' });
    }
    await expect(update(run, -1)).rejects.toMatchObject({ reason: 'bad-value' });
    await expect(update(run, 7, { label: 'step-8' })).rejects.toMatchObject({ reason: 'bad-value' });
    await expect(update('nobody', 7)).rejects.toMatchObject({ reason: 'no-such-run' });
    expect(servers[0]!.seen).toEqual([]);
  });

  async function begun(run: string, version: number, first: ModelServer): Promise<WorkflowHandle> {
    const started = await startUpdate(session(), inputOf(run, version));
    for (;;) {
      const progress = await updateProgress(session(), started);
      if (progress && progress.steps[first.url] !== 'waiting') break;
      await sleep(10);
    }
    return rig.client.workflow.getHandle(started.workflowId);
  }
});
