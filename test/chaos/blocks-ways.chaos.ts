// Runs with more in flight than one workflow may have, on a real server: a workflow may have 10 here, not 1,000.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CollectionInput, CollectionProgress, CollectionResult } from '../../domain/run/messages.ts';
import { openFileStore } from '../../records/file-store.ts';
import { prove } from './rig-run.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
/** While it is closed, answers wait, in the order in which they were asked for. */
const gate = { closed: false, waiting: [] as (() => void)[], most: 0 };
const closeGate = () => Object.assign(gate, { closed: true, most: 0 });
const openGate = () => {
  gate.closed = false;
  for (const answer of gate.waiting.splice(0)) answer();
};

beforeAll(async () => {
  rig = await openRig({
    async answer({ requestId }) {
      if (gate.closed) {
        const answered = new Promise<void>((resolve) => gate.waiting.push(resolve));
        gate.most = Math.max(gate.most, gate.waiting.length);
        await answered;
      }
      const [, query, , turn] = requestId.split('/');
      return Number(query!.slice(1)) % Number(turn) === 0 ? '\\boxed{4}' : '\\boxed{5}';
    },
  });
  await rig.startWorker();
});
afterAll(() => rig.close());
beforeEach(() => openGate());

const dataset = (queries: number) => {
  const path = join(rig.out, `data-${queries}.jsonl`);
  const rows = Array.from({ length: queries }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  return path;
};
type Input = Omit<CollectionInput, 'run' | 'out'>;
const SMALL = { maxWindow: 10, settings: { numTurns: 1 } } satisfies Input;
const start = (run: string, input: Input) =>
  rig.client.workflow.start('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    args: [{ run, out: rig.out, ...SMALL, ...input } satisfies CollectionInput],
  });
const progress = (run: string) => rig.client.workflow.getHandle(run).query('progress') as Promise<CollectionProgress>;
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}
const asked = (run: string) => rig.backend.requests.filter((r) => r.requestId.startsWith(`${run}/`));
/** Executions of the blocks of a run. */
async function blocksOf(run: string, which = '') {
  const found = [];
  for await (const w of rig.client.workflow.list({
    query: `WorkflowType = 'block' AND EverturnRun = '${run}'${which}`,
  }))
    found.push(w);
  return found;
}
const openBlocksOf = (run: string) => blocksOf(run, " AND ExecutionStatus = 'Running'");
const whole = async (run: string, result: CollectionResult, rollouts: number) => {
  expect(result.total).toBe(rollouts);
  expect(result.counts.outcomes).toEqual({ complete: rollouts, undecided: 0, failed: 0, cancelled: 0 });
  const ids = asked(run).map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe(rollouts);
  expect(ids).toHaveLength(rollouts);
  expect((await prove(rig, run)).breaches).toEqual([]);
};

describe('a run with more in flight than one workflow may have', { timeout: 240_000 }, () => {
  test('plays each rollout once, in blocks, and counts each once', async () => {
    const handle = await start('large', { dataset: dataset(70), samples: 2, maxConcurrent: 25 });
    await whole('large', (await handle.result()) as CollectionResult, 140);
    const blocks = await blocksOf('large');
    expect(blocks.length).toBeGreaterThanOrEqual(7);
    expect(
      blocks.every(({ workflowId, status }) => /^large~\d+-\d+$/.test(workflowId) && status.name === 'COMPLETED'),
    ).toBe(true);
    expect((await openFileStore(rig.out, 'large').getResult())!.record).toMatchObject({ counts: { judgedAt: [140] } });
  });

  test('counts each once over many continue-as-new of its root and its blocks', async () => {
    const input = { dataset: dataset(120), maxConcurrent: 25, maxWindow: 20, maxHistoryEvents: 50 };
    const handle = await start('renewed', input);
    await whole('renewed', (await handle.result()) as CollectionResult, 120);
    const roots = [];
    for await (const w of rig.client.workflow.list({ query: 'WorkflowId = "renewed"' })) roots.push(w);
    expect(roots.length).toBeGreaterThan(1);
    expect((await blocksOf('renewed')).some(({ status }) => status.name === 'CONTINUED_AS_NEW')).toBe(true);
  });

  test('fills its limit and never passes it, and follows a change of that while it runs', async () => {
    closeGate();
    const handle = await start('tuned', { dataset: dataset(200), maxConcurrent: 22 });
    await until(() => gate.waiting.length === 22);
    await until(async () => (await progress('tuned')).inFlight === 22);
    expect(await progress('tuned')).toMatchObject({ total: 200, done: 0, maxConcurrent: 22, state: 'running' });
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 37 }] });
    await until(() => gate.waiting.length === 37);
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 7 }] });
    // Those in flight end, and then at most 7 are.
    for (const answer of gate.waiting.splice(0)) answer();
    await until(async () => (await progress('tuned')).done >= 37 - 7);
    await until(() => gate.waiting.length === 7);
    await sleep(3000);
    expect(gate.waiting.length).toBe(7);
    expect(gate.most).toBe(37);
    openGate();
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 30 }] });
    await whole('tuned', (await handle.result()) as CollectionResult, 200);
  });

  test('begins nothing while it is paused, and goes on afterwards', async () => {
    closeGate();
    const handle = await start('paused', { dataset: dataset(100), maxConcurrent: 20 });
    await until(() => gate.waiting.length === 20);
    await handle.executeUpdate('pause');
    await sleep(1000);
    openGate();
    await until(async () => (await progress('paused')).done === 20);
    expect(await progress('paused')).toMatchObject({ state: 'paused', inFlight: 0 });
    expect(asked('paused')).toHaveLength(20);
    await handle.executeUpdate('resume');
    await whole('paused', (await handle.result()) as CollectionResult, 100);
  });

  test('ends in order when it is cancelled: all that was in flight is counted', async () => {
    closeGate();
    const handle = await start('cancelled', { dataset: dataset(100), maxConcurrent: 24 });
    await until(() => gate.waiting.length === 24);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    openGate();
    const { record } = (await openFileStore(rig.out, 'cancelled').getResult())!;
    expect(record).toMatchObject({ cancelled: true, counts: { outcomes: { complete: 0, cancelled: 24, failed: 0 } } });
    expect((await prove(rig, 'cancelled')).breaches).toEqual([]);
    expect(await openBlocksOf('cancelled')).toEqual([]);
  });

  test('starts a block again that somebody terminated, and asks nothing twice', async () => {
    closeGate();
    const handle = await start('struck', { dataset: dataset(100), maxConcurrent: 20 });
    await until(() => gate.waiting.length === 20);
    for (const { workflowId } of (await openBlocksOf('struck')).slice(0, 2))
      await rig.client.workflow.getHandle(workflowId).terminate('by hand');
    for (const answer of gate.waiting.splice(0, 10)) answer();
    await sleep(1000);
    openGate();
    await whole('struck', (await handle.result()) as CollectionResult, 100);
  });

  test('counts what a block had begun that was terminated before it heard of the stop', async () => {
    closeGate();
    const handle = await start('missed', { dataset: dataset(100), maxConcurrent: 20 });
    await until(() => gate.waiting.length === 20);
    for (const answer of gate.waiting.splice(0, 6)) answer();
    await until(() => gate.waiting.length === 20);
    for (const { workflowId } of await openBlocksOf('missed'))
      await rig.client.workflow.getHandle(workflowId).terminate('by hand');
    await handle.executeUpdate('stop');
    const { counts } = (await handle.result()) as CollectionResult;
    openGate();
    expect(counts.outcomes).toEqual({ complete: 6, undecided: 0, failed: 0, cancelled: 20 });
    expect((await prove(rig, 'missed')).breaches).toEqual([]);
  });

  test('is taken over by a root that is started again, after the first was terminated', async () => {
    closeGate();
    const input = { dataset: dataset(100), maxConcurrent: 20 };
    const first = await start('over', input);
    await until(() => gate.waiting.length === 20);
    await first.terminate('the root alone');
    const second = await start('over', input);
    await until(async () => (await progress('over')).inFlight === 20);
    openGate();
    await whole('over', (await second.result()) as CollectionResult, 100);
  });

  test('ends its blocks when it is started again with less in flight, and asks nothing twice', async () => {
    closeGate();
    const first = await start('shrunk', { dataset: dataset(100), maxConcurrent: 20 });
    await until(() => gate.waiting.length === 20);
    await first.terminate('the root alone');
    const second = await start('shrunk', { dataset: dataset(100), maxConcurrent: 4 });
    openGate();
    await whole('shrunk', (await second.result()) as CollectionResult, 100);
    await until(async () => (await openBlocksOf('shrunk')).length === 0);
  });

  test('grows out of one workflow when it is tuned above what that may have', async () => {
    closeGate();
    const handle = await start('grown', { dataset: dataset(100), maxConcurrent: 5 });
    await until(() => gate.waiting.length === 5);
    expect(await openBlocksOf('grown')).toEqual([]);
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 25 }] });
    await until(() => gate.waiting.length === 25);
    expect(gate.most).toBe(25);
    openGate();
    await whole('grown', (await handle.result()) as CollectionResult, 100);
  });

  test('is not disturbed by signals of another form, which any client may send', async () => {
    closeGate();
    const handle = await start('signalled', { dataset: dataset(60), maxConcurrent: 20 });
    await until(() => gate.waiting.length === 20);
    const [block] = await openBlocksOf('signalled');
    const counts = {
      outcomes: {},
      reasons: {},
      turns: 1,
      tokens: 1,
      judgedAt: [],
      rightAt: [],
      rightBy: [],
      failures: [],
    };
    const said = { block: block!.workflowId.split('~')[1], inFlight: 0, ended: true };
    const forms = [
      null,
      undefined,
      7,
      'x',
      [],
      {},
      { ...said },
      { ...said, counts },
      { ...said, inFlight: 1e99, counts },
    ];
    for (const form of forms) {
      await handle.signal('blockReport', form);
      await rig.client.workflow.getHandle(block!.workflowId).signal('order', form);
    }
    openGate();
    await whole('signalled', (await handle.result()) as CollectionResult, 60);
  });

  test('fails, and says why, when a block cannot read its queries', async () => {
    closeGate();
    const handle = await start('torn', { dataset: dataset(400), maxConcurrent: 20 });
    await until(() => gate.waiting.length === 20);
    const { folder } = openFileStore(rig.out, 'torn');
    writeFileSync(join(folder, 'queries.jsonl'), 'torn\n');
    openGate();
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: expect.stringMatching(/record|queries/) as string },
    });
  });

  test('is refused where a trainer lives on it, with the limit', async () => {
    const handle = await start('trained', { dataset: dataset(10), samples: 2, maxConcurrent: 20, train: {} });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'bad-value', message: expect.stringContaining('at most 10 rollouts in flight') as string },
    });
  });
});
