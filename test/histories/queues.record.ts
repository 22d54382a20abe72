// Rollouts of an environment on a user's own queue: it begins and ends them, fails, is late, or replied before.

import { NativeConnection, Worker } from '@temporalio/worker';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, inject } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { describeOnQueue } from '../../client/temporal/describe-environment.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { pythonNumbers } from '../support/python-numbers.ts';
import { GAME, recorder } from './recorder.ts';

const QUEUE = 'game@1';
const { open, close, rollout, scenario, start, rig } = recorder();
const onQueue = (changes: Partial<EnvironmentRecord> = {}): EnvironmentRecord => ({
  ...GAME,
  door: 'queue',
  spec: [QUEUE],
  claimed: true,
  ...changes,
});
const settings = (changes?: Partial<EnvironmentRecord>) => ({ numTurns: 5, environments: [onQueue(changes)] });

interface Call {
  readonly episode: { readonly query: string };
  readonly turn: number;
}
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
      async begin({ episode }: Call) {
        if (episode.query === 'rollout-queue-not-begun') throw ApplicationFailure.nonRetryable('No board.', 'NoBoard');
        return { messages: [{ role: 'user', content: 'Your move?' }], state: 0 };
      },
      async respond({ episode, turn }: Call) {
        if (episode.query === 'rollout-queue-late') await sleep(2_000);
        if (episode.query === 'rollout-queue-unreadable') return { reward: 'NaN' };
        if (turn === 1) return { reward: 0.5, messages: [{ role: 'user', content: 'And now?' }], state: 1 };
        return { verdict: 'right', reward: 1.5, done: true, state: 2 };
      },
      async end({ episode }: Call) {
        if (episode.query === 'rollout-queue-not-ended') throw ApplicationFailure.nonRetryable('Stuck.', 'Stuck');
      },
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

rollout('rollout-queue-not-begun', { settings: settings() });
rollout('rollout-queue-unreadable', { settings: settings() });
rollout('rollout-queue-late', { settings: settings({ timeoutSeconds: 0.5 }) });

/** Its first workflow ends when a reply is recorded and not yet logged. */
const AGAIN = 'rollout-queue-replied-before';
let terminated = false;
scenario(
  AGAIN,
  {
    async at({ step }, handle) {
      if (step !== 'log' || terminated) return;
      terminated = true;
      await handle.terminate('for the recording');
      await sleep(500);
    },
  },
  async () => {
    const row = { query_id: AGAIN, question: 'What is 2 + 2?', answer: '4' };
    const again = () => start('rollout', `recorded/${AGAIN}/0`, { run: 'recorded', row, settings: settings() });
    await (await again()).result().catch(() => {});
    await sleep(2_000);
    const handle = await again();
    await handle.result();
    return handle;
  },
);

scenario('described-queue', {}, async () => {
  await describeOnQueue({ client: rig().client, address: 'here' } as Session, QUEUE);
  for await (const { workflowId, runId, type } of rig().client.workflow.list())
    if (type === 'describeEnvironment') return { workflowId, runId };
  throw new Error('it was not listed');
});
