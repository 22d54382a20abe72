// An update of weights that each server refuses. The servers are scripted ones on this machine.

import { afterAll, beforeAll } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import { startUpdate } from '../../client/temporal/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { recorder } from './recorder.ts';

const { open, close, rig, scenario } = recorder();
let fleet: ModelServer[] = [];
beforeAll(open);
afterAll(async () => {
  await close();
  await Promise.all(fleet.map((server) => server.close()));
});

scenario('weights-refused', {}, async () => {
  const run = 'weights-refused';
  fleet = await Promise.all([0, 1].map(() => modelServer({ kind: 'sglang' })));
  const { client, namespace, out } = rig();
  await openFileStore(out, run).putRun({
    format: 'everturn-run/1',
    run,
    settings: completeSettings(run, { model: `sglang:${fleet.map(({ url }) => url).join(',')}` }),
    origins: {},
    samples: 1,
    dataset: null,
    versions: { everturn: 'test', node: 'test' },
    createdAt: 0,
  });
  const session = { client, namespace, address: '', close: async () => undefined };
  const started = await startUpdate(session, { run, out, version: 7, weights: '/ckpt/nonexistent' });
  await client.workflow
    .getHandle(started.workflowId, started.runId)
    .result()
    .catch(() => undefined);
  return started;
});
