// The workflow `updateWeights` with an adapter: in force once every server that can be reached has it, and none where one refuses.

import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { WeightsInput, WeightsResult } from '../../domain/weights/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { startUpdate, updateResult } from '../../client/temporal/weights.ts';
import { aRunRecord } from '../records/play.ts';
import { adapterFolder } from '../support/adapter-folder.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { openRig, type Rig } from '../support/rig.ts';
import type { Shape } from '../support/toy-engine.ts';

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
async function aRun(...shapes: Partial<Shape>[]) {
  const servers = await Promise.all(shapes.map((shape) => modelServer({ kind: 'vllm', adapters: 'taken', ...shape })));
  opened.push(...servers);
  const run = `adapted-${++runs}`;
  await putRun(run, `vllm:${servers.map(({ url }) => url).join(',')}`);
  return { run, servers };
}
const putRun = (run: string, model: string) =>
  openFileStore(rig.out, run).put('run', null, aRunRecord(run, completeSettings(run, { model })));

const session = () => ({ client: rig.client, address: '', namespace: rig.namespace, close: async () => undefined });
const start = (run: string, version: number, more: Partial<WeightsInput> = {}) => {
  const weights = more.weights ?? adapterFolder(join(rig.out, 'ckpt', String(version)));
  return startUpdate(session(), { run, out: rig.out, version, weights, adapter: true, ...more });
};
const update = async (...args: Parameters<typeof start>): Promise<WeightsResult> =>
  updateResult(session(), await start(...args));
const states = ({ servers }: WeightsResult) => servers.map(({ state }) => state);
const ledgerOf = (run: string) => openWeightsLedger(join(rig.out, run));
const namesOf = ({ engine }: ModelServer) =>
  [...engine.adapters.keys()].map((name) => name.replace(/[0-9a-f]{16}/, ''));

describe('an update by an adapter', () => {
  test('is in force once every server has it, and two versions later it is put out', async () => {
    const { run, servers } = await aRun({}, {});
    const done = await update(run, 1);
    expect(done).toMatchObject({ label: '1', state: 'whole', servers: [{ state: 'updated' }, { state: 'updated' }] });
    expect(await ledgerOf(run).current()).toMatchObject({ version: 1, adapter: { base: null } });
    expect(states(await update(run, 1))).toEqual(['already', 'already']);
    for (const version of [2, 3]) expect(await update(run, version)).toMatchObject({ state: 'whole' });
    for (const server of servers) expect(namesOf(server)).toEqual(['everturn--2', 'everturn--3']);
  });

  test('comes into force on none where one refuses it, and a later one may follow', async () => {
    const { run } = await aRun({}, { adapters: 'ignored' }, {});
    await expect(update(run, 1)).resolves.toMatchObject({ state: 'none' });
    expect(await ledgerOf(run).current()).toBeNull();
    const zero = adapterFolder(join(rig.out, 'ckpt', 'zero'), 'zero', true);
    expect(await update(run, 1, { weights: zero })).toMatchObject({ state: 'whole' });
  });

  test('reaches those that are there, and the others when they are back', async () => {
    const { run, servers } = await aRun({}, {});
    const { port } = servers[1]!;
    await servers[1]!.close();
    expect(await update(run, 1)).toMatchObject({
      state: 'partial',
      servers: [{ state: 'updated' }, { state: 'unreached' }],
    });
    expect(await ledgerOf(run).current()).toMatchObject({ version: 1 });
    opened.push(await modelServer({ kind: 'vllm', adapters: 'taken', port }));
    expect(states(await update(run, 1))).toEqual(['already', 'updated']);
  });

  test('follows and precedes no weights of their own, and is refused where it was changed or a model runs in workers', async () => {
    const { run } = await aRun({});
    await update(run, 1);
    await expect(update(run, 2, { weights: '/ckpt/2', adapter: false })).rejects.toMatchObject({
      reason: 'not-allowed',
    });
    const folder = join(rig.out, 'ckpt', '1');
    adapterFolder(folder, 'other words');
    await expect(update(run, 1, { weights: folder })).rejects.toMatchObject({ reason: 'weights-changed' });
    await expect(update(run, 2, { weights: rig.out })).rejects.toMatchObject({ reason: 'no-weights' });
    await putRun('embedded', 'tiny');
    await expect(update('embedded', 1)).rejects.toMatchObject({ reason: 'no-weights-to-update' });
  });
});
