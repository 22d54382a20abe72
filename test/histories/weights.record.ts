// What an update of weights does: every ending of a server, of the whole, and of a cancelled one. The servers are scripted
// ones on this machine.

import { afterAll, beforeAll } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { WeightsInput } from '../../domain/weights/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { startUpdate } from '../../client/temporal/weights.ts';
import { until } from '../support/until.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { recorder } from './recorder.ts';

const { open, close, rig, scenario } = recorder();
const servers: ModelServer[] = [];
beforeAll(open);
afterAll(async () => {
  await close();
  await Promise.all(servers.map((server) => server.close()));
});

interface Fleet {
  readonly kind?: 'sglang' | 'vllm';
  readonly count?: number;
  readonly model?: string;
}

type Play = (parts: {
  readonly update: (more?: Partial<WeightsInput>) => Promise<{ workflowId: string; runId: string }>;
  readonly ended: (started: { workflowId: string; runId: string }) => Promise<unknown>;
  readonly fleet: readonly ModelServer[];
}) => Promise<{ workflowId: string; runId: string }>;

function weights(name: string, { kind = 'sglang', count = 2, model }: Fleet, play: Play): void {
  scenario(name, {}, async () => {
    const fleet = await Promise.all(Array.from({ length: count }, () => modelServer({ kind })));
    servers.push(...fleet);
    await openFileStore(rig().out, name).putRun({
      format: 'everturn-run/1',
      run: name,
      settings: completeSettings(name, { model: model ?? `${kind}:${fleet.map(({ url }) => url).join(',')}` }),
      origins: {},
      samples: 1,
      dataset: null,
      versions: { everturn: 'test', node: 'test' },
      createdAt: 0,
    });
    const { client, namespace } = rig();
    const session = { client, namespace, address: '', close: async () => undefined };
    const input = { run: name, out: rig().out, version: 7, weights: '/ckpt/step-7' };
    return play({
      fleet,
      update: (more = {}) => startUpdate(session, { ...input, ...more }),
      ended: ({ workflowId, runId }) =>
        client.workflow
          .getHandle(workflowId, runId)
          .result()
          .catch(() => undefined),
    });
  });
}

weights('weights-of-an-embedded-model', { count: 0, model: 'tiny' }, async ({ update, ended }) => {
  const started = await update();
  await ended(started);
  return started;
});

weights('weights-refused', {}, async ({ update, ended }) => {
  const started = await update({ weights: '/ckpt/nonexistent' });
  await ended(started);
  return started;
});

weights('weights-without-a-key', {}, async ({ update, ended }) => {
  const started = await update({ apiKeyEnv: 'EVERTURN_NO_SUCH_KEY' });
  await ended(started);
  return started;
});

weights('weights-superseded', {}, async ({ update, ended, fleet }) => {
  await ended(await update({ version: 1 }));
  fleet[0]!.silent = true;
  const asked = fleet[0]!.connections();
  const second = await update({ version: 2 });
  await until('the second is asked', () => fleet[0]!.connections() > asked);
  const first = await update({ version: 1 });
  await ended(first);
  fleet[0]!.silent = false;
  await ended(second);
  return first;
});

weights('weights-cancelled-while-another-is-open', {}, async ({ update, ended, fleet }) => {
  fleet[0]!.silent = true;
  const first = await update({ version: 1 });
  await until('it is asked', () => fleet[0]!.connections() > 0);
  const second = await update({ version: 2 });
  await until('the second waits', async () => {
    const { raw } = await rig().client.workflow.getHandle(second.workflowId).describe();
    return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'awaitOtherUpdates');
  });
  await rig().client.workflow.getHandle(second.workflowId).cancel();
  await ended(second);
  fleet[0]!.silent = false;
  await ended(first);
  return second;
});
