// A run with more in flight than one workflow may have, on a real server: a workflow may have 10 here, not 1,000. Such runs under
// kills, pauses and terminations: test/chaos/blocks.chaos.ts. Needs dist/ (npm run build).

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionInput, CollectionResult } from '../../domain/run/messages.ts';
import { openBlocks, orderFor } from '../../domain/run/blocks.ts';
import { openWindow } from '../../domain/run/window.ts';
import { openFileStore } from '../../records/file-store.ts';
import { prove, startRun } from '../chaos/rig-run.ts';
import { recordHistory } from '../histories/history-file.ts';
import { closedRollouts } from '../../client/temporal/runs.ts';
import { isWaiting } from '../../client/temporal/cancellation.ts';
import { openRig, type Rig } from '../support/rig.ts';
import type { Script } from '../support/scripted-model.ts';
import { until } from '../support/until.ts';

let rig: Rig;
/** Of the run that nobody answers: how many rollouts each of its activities followed. */
const followed: number[] = [];
const isOpen = "EverturnRun = 'unanswered' AND WorkflowType = 'rollout' AND ExecutionStatus = 'Running'";
beforeAll(async () => {
  const script: Script = {
    answer({ requestId }, _, signal) {
      const [run, query, , turn] = requestId.split('/');
      if (run === 'unanswered')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      return Number(query!.slice(1)) % Number(turn) === 0 ? '\\boxed{4}' : '\\boxed{5}';
    },
  };
  rig = await openRig(script, {
    async closedRollouts(run, ids) {
      if (run === 'unanswered') {
        followed.push(ids.length);
        await until('all have closed', async () => (await rig.client.workflow.count(isOpen)).count === 0, 200_000);
      }
      return closedRollouts(rig.client, run, ids);
    },
  });
  await rig.startWorker();
});
afterAll(async () => {
  await rig.close();
});

type More = Omit<CollectionInput, 'run' | 'out' | 'dataset'>;

function start(run: string, queries: number, more: More, on: Rig = rig) {
  const rows = Array.from({ length: queries }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  return startRun(on, { run, rows, maxWindow: 10, settings: { numTurns: 1 }, ...more });
}

describe('a run with more in flight than one workflow may have', { timeout: 240_000 }, () => {
  test('plays each rollout once, in blocks, and counts each once', async () => {
    const handle = await start('large', 35, { samples: 2, maxConcurrent: 25 });
    const { total, counts } = (await handle.result()) as CollectionResult;
    expect(total).toBe(70);
    expect(counts.outcomes).toEqual({ complete: 70, undecided: 0, failed: 0, cancelled: 0 });
    const ids = rig.backend.requests.map(({ requestId }) => requestId).filter((id) => id.startsWith('large/'));
    expect([ids.length, new Set(ids).size]).toEqual([70, 70]);
    expect((await prove(rig, 'large')).breaches).toEqual([]);
    const blocks = [];
    const query = `WorkflowType = 'block' AND EverturnRun = 'large'`;
    for await (const found of rig.client.workflow.list({ query })) blocks.push(found);
    expect(blocks.length).toBeGreaterThanOrEqual(4);
    await recordHistory(rig.client, 'blocks-root', handle);
    await recordHistory(rig.client, 'blocks-block', blocks[0]!);
    expect(blocks.filter(({ workflowId }) => !/^large~\d+-\d+$/.test(workflowId))).toEqual([]);
    expect((await openFileStore(rig.out, 'large').get('result'))!.record).toMatchObject({ counts: { judgedAt: [70] } });
  });

  test('follows those that are cancelled together, not each by an activity of its own', async () => {
    const handle = await start('unanswered', 30, { maxConcurrent: 21, maxWindow: 20 });
    const asked = () => rig.backend.requests.filter(({ requestId }) => requestId.startsWith('unanswered/')).length;
    await until('all are asked for', () => asked() === 21, 200_000);
    await handle.executeUpdate('stop');
    const { counts } = (await handle.result()) as CollectionResult;
    expect(counts.outcomes).toEqual({ complete: 0, undecided: 0, failed: 0, cancelled: 21 });
    // In each of six blocks the first alone, then those that had closed meanwhile; and once those that it had not begun. A busy
    // machine asks for some of them again.
    expect(followed.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(30);
    expect(followed.length).toBeLessThan(21);
    expect((await prove(rig, 'unanswered')).breaches).toEqual([]);
  });

  /** A run whose blocks are gone: its next execution believes that they play. */
  async function startWithLostBlocks(run: string, heardAt: number) {
    const first = await start(run, 20, { maxConcurrent: 12 });
    const hasFolder = async () =>
      (await openFileStore(rig.out, run)
        .countQueries()
        .catch(() => 0)) === 20;
    await until('it has a folder', hasFolder);
    await first.terminate('by hand');
    const open = `EverturnRun = '${run}' AND ExecutionStatus = 'Running' AND WorkflowType = 'block'`;
    for await (const { workflowId } of rig.client.workflow.list({ query: open }))
      await rig.client.workflow
        .getHandle(workflowId)
        .terminate('by hand')
        .catch(() => {});
    const state = openBlocks(openWindow({ queries: 20, samples: 1, numTurns: 1 }, 12, heardAt), 10);
    for (const block of state.blocks)
      if (block.state !== 'ended') Object.assign(block, { state: 'open', heardAt, order: orderFor(state, block) });
    return () => start(run, 20, { maxConcurrent: 12, carried: state });
  }

  test('asks lost blocks at once, not a while after each continue-as-new, and plays them again', async () => {
    const begin = await startWithLostBlocks('lost', Date.now() - 200_000);
    const at = Date.now();
    expect(((await (await begin()).result()) as CollectionResult).counts.outcomes.complete).toBe(20);
    expect(Date.now() - at).toBeLessThan(60_000);
    expect((await prove(rig, 'lost')).breaches).toEqual([]);
  });

  test('ends those that wait for a slot where they wait, asks nothing for them, and counts each once', async () => {
    const narrow = await openRig({
      answer: (_request, _context, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    await narrow.startWorker({ slots: 3 });
    const handle = await start('narrow', 30, { maxConcurrent: 21, maxWindow: 10 }, narrow);
    const waiting = "WorkflowType = 'rollout' AND ExecutionStatus = 'Running'";
    const open = async () => (await narrow.client.workflow.count(waiting)).count;
    const asked = () => narrow.backend.requests.length;
    const ids = async () => {
      const found = [];
      for await (const { workflowId } of narrow.client.workflow.list({ query: "WorkflowType = 'rollout'" }))
        found.push(workflowId);
      return found;
    };
    const waits = async () =>
      (await Promise.all((await ids()).map((id) => isWaiting(narrow.client, id)))).filter(Boolean);
    // Three are asked; more where a worker stood still, and lost the heartbeats of those.
    const others = async () => asked() >= 3 && (await ids()).length === 21 && (await waits()).length >= 21 - asked();
    await until('all others wait', others, 200_000);
    await handle.executeUpdate('stop');
    const { counts } = (await handle.result()) as CollectionResult;
    expect(counts.outcomes).toEqual({ complete: 0, undecided: 0, failed: 0, cancelled: 21 });
    await until('all are closed', async () => (await open()) === 0, 200_000);
    const byItself = [];
    for (const workflowId of await ids()) {
      const { events } = await narrow.client.workflow.getHandle(workflowId).fetchHistory();
      if (events!.some((event) => event.workflowExecutionCancelRequestedEventAttributes)) byItself.push(workflowId);
    }
    expect(byItself.length).toBeGreaterThanOrEqual(3);
    expect(byItself.length).toBeLessThan(15);
    expect(asked()).toBeLessThan(15);
    const { breaches, told } = await prove(narrow, 'narrow');
    expect([breaches, told]).toEqual([[], 21]);
    await narrow.close();
  });

  test('is refused where a trainer lives on it, with the limit', async () => {
    const handle = await start('trained', 10, { samples: 2, maxConcurrent: 20, train: {} });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'bad-value', message: expect.stringContaining('at most 10 rollouts in flight') as string },
    });
  });
});
