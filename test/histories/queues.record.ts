// A rollout of an environment on a user's own queue: it begins it, is late, and ends it; and the description that it gives.

import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, inject } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { describeOnQueue } from '../../client/temporal/describe-environment.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { pythonNumbers } from '../support/python-numbers.ts';
import { recorder } from './recorder.ts';

const QUEUE = 'game@1';
const { open, close, rollout, scenario, rig } = recorder();
const GAME: EnvironmentRecord = {
  name: 'game',
  version: '1',
  door: 'queue',
  spec: [QUEUE],
  fingerprint: 'a'.repeat(64),
  state: 'value',
  begins: true,
  ends: true,
  timeoutSeconds: 0.5,
  claimed: true,
};

let worker: Worker;
let done: Promise<void>;
let connection: NativeConnection;
beforeAll(async () => {
  await open();
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  worker = await Worker.create({
    connection,
    namespace: rig().namespace,
    taskQueue: QUEUE,
    dataConverter: { payloadCodecs: [pythonNumbers] },
    activities: {
      describe: async () => ({ protocol: 1, name: 'game', version: '1' }),
      begin: async () => ({ messages: [{ role: 'user', content: 'Your move?' }], state: 0 }),
      async respond({ turn }: { readonly turn: number }) {
        await sleep(2_000);
        if (turn === 1) return { reward: 0.5, messages: [{ role: 'user', content: 'And now?' }], state: 1 };
        return { verdict: 'right', reward: 1.5, done: true, state: 2 };
      },
      end: async () => undefined,
    },
  });
  done = worker.run();
});
afterAll(async () => {
  worker?.shutdown();
  await done;
  await connection?.close();
  await close();
});

rollout('rollout-queue-late', { settings: { numTurns: 5, environments: [GAME] } });

scenario('described-queue', {}, async () => {
  await describeOnQueue({ client: rig().client, address: 'here' } as Session, QUEUE);
  for await (const { workflowId, runId, type } of rig().client.workflow.list())
    if (type === 'describeEnvironment') return { workflowId, runId };
  throw new Error('it was not listed');
});
