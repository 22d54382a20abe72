// Large runs: roots and blocks, each steered, struck, taken over or left alone in another way. A workflow may have 6 in
// flight here, not 1,000. `npm run record-histories` plays those that have no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { StoreError } from '../../domain/errors/errors.ts';
import type { CollectionInput } from '../../domain/run/messages.ts';
import { recorder, RIGHT, type Scenario, send } from './recorder.ts';

const { rig, open, close, scenario, start, dataset, script } = recorder();
beforeAll(open);
afterAll(close);

const gone = () => new StoreError('The disk is gone.', { reason: 'io-error', retryable: false });
const run = (handle: WorkflowHandle) => handle.result().catch(() => {});
const FIRST_BLOCK = '0-0';
const blockOf = (name: string, block = FIRST_BLOCK) => rig().client.workflow.getHandle(`${name}~${block}`);

/** Answers wait until it is opened. */
const gated = () => {
  let openGate = () => {};
  let asked = 0;
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const answer = () => {
    asked++;
    return gate.then(() => RIGHT);
  };
  const untilAsked = async (n: number) => {
    while (asked < n) await sleep(100);
    // The starts are acknowledged, and the first reports sent.
    await sleep(3000);
  };
  return { scenario: { answer } satisfies Scenario, openGate, untilAsked };
};
const slow: Scenario = { answer: () => sleep(100, RIGHT) };

interface Large {
  readonly input?: Partial<CollectionInput>;
  readonly queries?: number;
  readonly played?: Scenario;
  /** While it runs; the history is of the workflow that comes back, else of the root. */
  readonly act?: (handle: WorkflowHandle, name: string) => Promise<WorkflowHandle | void>;
}
/** Executions of a workflow that continued as new, in order. */
const executionsOf = async (workflowId: string) => {
  const found = [];
  for await (const w of rig().client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) found.push(w);
  return found
    .sort((a, b) => a.startTime.getTime() - b.startTime.getTime())
    .map(({ runId }) => ({ workflowId, runId }));
};
const all = (name: string, { input, queries = 40 }: Large): Partial<CollectionInput> => ({
  ...{ run: name, dataset: dataset(name, queries), settings: { numTurns: 1 }, maxConcurrent: 15, maxWindow: 6 },
  ...input,
});
/** The histories of the root, and of a block as `<name>-block`. */
const large = (name: string, given: Large, kept: readonly ('root' | 'block')[] = ['root', 'block']) => {
  let played: Promise<WorkflowHandle> | undefined;
  const play = async () => {
    script(name, given.played ?? slow);
    const first = await start('collection', name, all(name, given));
    const last = (await given.act?.(first, name)) ?? first;
    await run(last);
    await sleep(500);
    return last;
  };
  for (const which of kept) {
    scenario(which === 'root' ? name : `${name}-block`, given.played ?? slow, async () => {
      const root = await (played ??= play());
      return which === 'root' ? root : blockOf(name);
    });
  }
};
{
  // Every other one counts as waiting for a slot: its end is recorded, and its workflow goes on until it finds it.
  const gate = gated();
  large(
    'blocks-waiting',
    {
      played: { ...gate.scenario, waits: (query) => Number(query.slice(1)) % 2 === 0 },
      act: async (handle) => {
        await gate.untilAsked(15);
        await send(handle, 'stop');
      },
    },
    ['block'],
  );
}
{
  const gate = gated();
  large('blocks-struck-while-stopping', {
    played: gate.scenario,
    async act(handle, name) {
      await gate.untilAsked(15);
      await blockOf(name).terminate('by hand');
      await handle.executeUpdate('stop');
    },
  });
}
{
  const gate = gated();
  const given: Large = {
    played: gate.scenario,
    async act(handle, name) {
      await gate.untilAsked(15);
      await handle.terminate('the root alone');
      const second = await start('collection', name, all(name, given));
      await sleep(3000);
      gate.openGate();
      return second;
    },
  };
  large('blocks-taken-over', given, ['root']);
}
{
  // A root with less in flight: blocks of before are none of its own.
  const gate = gated();
  const given: Large = {
    played: gate.scenario,
    async act(handle, name) {
      await gate.untilAsked(15);
      await handle.terminate('the root alone');
      const second = await start('collection', name, all(name, { input: { maxConcurrent: 4 } }));
      await second.signal('blockReport', { block: 7 });
      await sleep(3000);
      await send(second, 'stop');
      gate.openGate();
      return second;
    },
  };
  large('blocks-shrunk', given, ['root']);
}
{
  // Its root is gone for good: what is in flight ends, and nothing more begins.
  const gate = gated();
  large(
    'blocks-left-alone',
    {
      played: gate.scenario,
      async act(handle, name) {
        await gate.untilAsked(15);
        await handle.terminate('the root alone');
        gate.openGate();
        return blockOf(name);
      },
    },
    ['block'],
  );
}
{
  const gate = gated();
  const name = 'blocks-outgrown';
  scenario(name, gate.scenario, async () => {
    const handle = await start('collection', name, all(name, { input: { maxConcurrent: 5 } }));
    await gate.untilAsked(5);
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 15 }] });
    await gate.untilAsked(13);
    gate.openGate();
    await run(handle);
    await sleep(1000);
    return (await executionsOf(name))[0]!;
  });
}
{
  // A root that continued as new does not learn of its blocks' ends; its next order finds that one is gone.
  const gate = gated();
  const name = 'blocks-struck-unseen';
  scenario(name, gate.scenario, async () => {
    const handle = await start('collection', name, all(name, { input: { maxHistoryEvents: 30 } }));
    await gate.untilAsked(15);
    while ((await executionsOf(name)).length < 2) await sleep(500);
    await blockOf(name).terminate('by hand');
    await sleep(1000);
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 3 }] });
    await sleep(3000);
    gate.openGate();
    await run(handle);
    await sleep(1000);
    for (const execution of await executionsOf(name)) {
      const { events } = await rig().client.workflow.getHandle(name, execution.runId).fetchHistory();
      if (events?.some((event) => event.signalExternalWorkflowExecutionFailedEventAttributes)) return execution;
    }
    throw new Error('no order failed');
  });
}
large('blocks-with-a-trainer', { input: { train: {}, samples: 2 } }, ['root']);
large(
  'blocks-that-cannot-page',
  { played: { ...slow, at: ({ step, tries }) => (step === 'page' && tries > 2 ? Promise.reject(gone()) : undefined) } },
  ['root'],
);
scenario('blocks-continued-block-first', slow, async () => {
  const name = 'blocks-continued';
  script(name, slow);
  const input = { maxConcurrent: 12, maxWindow: 8, maxHistoryEvents: 40 };
  await run(await start('collection', name, { ...all(name, { queries: 48 }), ...input }));
  await sleep(1000);
  return (await executionsOf(`${name}~0-0`))[0]!;
});
