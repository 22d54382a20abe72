// A run with more in flight than one workflow may have, on a real server: a workflow may have 10 here, not 1,000. Limits, pauses,
// cancellations and terminations of such runs: test/chaos/blocks-ways.chaos.ts. Needs dist/ (npm run build).

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunStatus } from '../../cli/commands/status.ts';
import type { CollectionInput, CollectionProgress, CollectionResult } from '../../domain/run/messages.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { openFileStore } from '../../records/files.ts';
import { prove } from '../chaos/rig-run.ts';
import { closedRollouts } from '../../client/temporal/runs.ts';
import { isWaiting } from '../../client/temporal/waiting.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { openRig, type Rig } from '../support/rig.ts';
import type { Script } from '../support/scripted-model.ts';
import { until } from '../support/until.ts';

let rig: Rig;
let everturn: Everturn;
/** The run with a silent block. */
let letAnswer = () => {};
const mayAnswer = new Promise<void>((resolve) => (letAnswer = resolve));
/** Of the run that nobody answers: how many rollouts each of its activities followed. */
const followed: number[] = [];
const isOpen = "EverturnRun = 'unanswered' AND WorkflowType = 'rollout' AND ExecutionStatus = 'Running'";
beforeAll(async () => {
  const script: Script = {
    answer({ requestId }, _, signal) {
      const [run, query, , turn] = requestId.split('/');
      if (run === 'unanswered')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      if (run === 'silent') return mayAnswer.then(() => '\\boxed{4}');
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
  everturn = openEverturn({ TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: rig.namespace });
});
afterAll(async () => {
  await everturn.close();
  await rig.close();
});

type More = Omit<CollectionInput, 'run' | 'out' | 'dataset'>;

function start(run: string, queries: number, more: More, on: Rig = rig) {
  const dataset = join(on.out, `data-${queries}.jsonl`);
  const rows = Array.from({ length: queries }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const input: CollectionInput = { run, out: on.out, dataset, maxWindow: 10, settings: { numTurns: 1 }, ...more };
  return on.client.workflow.start('collection', { workflowId: run, taskQueue: 'everturn', args: [input] });
}

describe('a run with more in flight than one workflow may have', { timeout: 240_000 }, () => {
  test('plays each rollout once, in blocks, and counts each once', async () => {
    const handle = await start('large', 70, { samples: 2, maxConcurrent: 25 });
    const { total, counts } = (await handle.result()) as CollectionResult;
    expect(total).toBe(140);
    expect(counts.outcomes).toEqual({ complete: 140, undecided: 0, failed: 0, cancelled: 0 });
    const ids = rig.backend.requests.map(({ requestId }) => requestId).filter((id) => id.startsWith('large/'));
    expect([ids.length, new Set(ids).size]).toEqual([140, 140]);
    expect((await prove(rig, 'large')).breaches).toEqual([]);
    const blocks = [];
    const query = `WorkflowType = 'block' AND EverturnRun = 'large'`;
    for await (const found of rig.client.workflow.list({ query })) blocks.push(found);
    expect(blocks.length).toBeGreaterThanOrEqual(7);
    expect(blocks.filter(({ workflowId }) => !/^large~\d+-\d+$/.test(workflowId))).toEqual([]);
    expect((await openFileStore(rig.out, 'large').getResult())!.record).toMatchObject({ counts: { judgedAt: [140] } });
  });

  test('follows those that are cancelled together, not each by an activity of its own', async () => {
    const handle = await start('unanswered', 60, { maxConcurrent: 42, maxWindow: 40 });
    const asked = () => rig.backend.requests.filter(({ requestId }) => requestId.startsWith('unanswered/')).length;
    await until('all are asked for', () => asked() === 42, 200_000);
    await handle.executeUpdate('stop');
    const { counts } = (await handle.result()) as CollectionResult;
    expect(counts.outcomes).toEqual({ complete: 0, undecided: 0, failed: 0, cancelled: 42 });
    // In each of three blocks the first alone, and then those that had closed meanwhile.
    expect(followed.reduce((sum, n) => sum + n, 0)).toBe(42);
    expect(followed.length).toBeLessThan(21);
    expect((await prove(rig, 'unanswered')).breaches).toEqual([]);
  });

  /** A run whose only block was terminated: its next execution believes that the block plays. */
  async function startWithLostBlock(run: string, more: (now: number) => { heardAt?: number; askAt: number }) {
    const first = await start(run, 20, { maxConcurrent: 12 });
    await until(
      'it has a folder',
      async () =>
        (await openFileStore(rig.out, run)
          .countQueries()
          .catch(() => 0)) === 20,
    );
    await first.terminate('by hand');
    const open = `EverturnRun = '${run}' AND ExecutionStatus = 'Running' AND WorkflowType = 'block'`;
    for await (const { workflowId } of rig.client.workflow.list({ query: open }))
      await rig.client.workflow
        .getHandle(workflowId)
        .terminate('by hand')
        .catch(() => {});
    const now = Date.now();
    const { askAt, ...heard } = more(now);
    const order = { order: now, paused: false, stopping: false, window: 10, reportMs: 2000 };
    const counted = { held: 10, next: 9, inFlight: 3, counts: noCounts(), absent: false };
    const block = { name: '0-20', from: 0, to: 20, order, ...counted, ...heard };
    const shape = { queries: 20, samples: 1, numTurns: 1, next: 20, blocks: [block], counts: noCounts(), most: 10 };
    const state = { ...shape, maxConcurrent: 12, paused: false, stopping: false, startedAt: now, orders: now };
    return start(run, 20, { maxConcurrent: 12, carried: { ...state, askAt } });
  }

  test('asks a lost block when it is due, not a while after each continue-as-new, and plays it again', async () => {
    const second = await startWithLostBlock('lost', (now) => ({ askAt: now + 1000 }));
    expect(((await second.result()) as CollectionResult).counts.outcomes.complete).toBe(20);
    const { events } = await second.fetchHistory();
    const timer = events!.find((event) => event.timerStartedEventAttributes)?.timerStartedEventAttributes;
    expect(Number(timer?.startToFireTimeout?.seconds ?? 0)).toBeLessThanOrEqual(1);
    expect((await prove(rig, 'lost')).breaches).toEqual([]);
  });

  test('has a block that reports nothing named by `status`, until it reports', async () => {
    const MIN = 60_000;
    const second = await startWithLostBlock('silent', (now) => ({ heardAt: now - 6 * MIN, askAt: now + 60 * MIN }));
    const status = async (...json: string[]) => {
      const { code, stdout, stderr } = await everturn.run('status', 'silent', '--out', rig.out, ...json);
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const silent = async () => (JSON.parse(await status('--json')) as RunStatus).silentBlocks;
    // A worker answers, or its memo does.
    const found = await until('its workflow is open', silent);
    expect(found).toMatchObject({ silent: 1, of: 1 });
    expect(found.ms).toBeGreaterThanOrEqual(6 * MIN);
    expect(await status()).toMatch(
      /\n1 of 1 blocks of this run has not reported for up to \d+ min: the counts leave out /,
    );
    // An order finds that the block is gone.
    await second.executeUpdate('tune', { args: [{ maxConcurrent: 8 }] });
    await until('it has reported', async () => (await silent()) === null);
    expect(((await second.query('progress')) as CollectionProgress).state).toBe('running');
    letAnswer();
    expect(((await second.result()) as CollectionResult).counts.outcomes.complete).toBe(20);
  });

  test('ends those that wait for a slot where they wait, asks nothing for them, and counts each once', async () => {
    const narrow = await openRig({
      answer: (_request, _context, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    await narrow.startWorker({ slots: 5 });
    const handle = await start('narrow', 60, { maxConcurrent: 42, maxWindow: 20 }, narrow);
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
    await until('all others wait', async () => asked() === 5 && (await waits()).length === 37, 200_000);
    await handle.executeUpdate('stop');
    const { counts } = (await handle.result()) as CollectionResult;
    expect(counts.outcomes).toEqual({ complete: 0, undecided: 0, failed: 0, cancelled: 42 });
    await until('all are closed', async () => (await open()) === 0, 200_000);
    const byItself = [];
    for (const workflowId of await ids()) {
      const { events } = await narrow.client.workflow.getHandle(workflowId).fetchHistory();
      if (events!.some((event) => event.workflowExecutionCancelRequestedEventAttributes)) byItself.push(workflowId);
    }
    expect(byItself.length).toBeGreaterThanOrEqual(5);
    expect(byItself.length).toBeLessThan(21);
    expect(asked()).toBeLessThan(21);
    const { breaches, histories } = await prove(narrow, 'narrow');
    expect([breaches, histories.closed]).toEqual([[], 42]);
    await narrow.close();
  });

  test('is refused where a trainer lives on it, with the limit', async () => {
    const handle = await start('trained', 10, { samples: 2, maxConcurrent: 20, train: {} });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'bad-value', message: expect.stringContaining('at most 10 rollouts in flight') as string },
    });
  });
});
