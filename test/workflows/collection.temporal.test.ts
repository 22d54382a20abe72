import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { closedRollouts } from '../../client/temporal/runs.ts';
import { TemporalError } from '../../domain/errors/errors.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { CollectionInput, CollectionProgress, CollectionResult } from '../../domain/run/messages.ts';
import { recordHistory } from '../histories/history-file.ts';
import { openRig, type Rig } from '../support/rig.ts';
import type { Script } from '../support/scripted-model.ts';

let rig: Rig;
/** While it is closed, answers wait, in the order in which they were asked for. */
const gate = { closed: false, waiting: [] as (() => void)[], most: 0 };
const closeGate = () => Object.assign(gate, { closed: true, most: 0 });
const openGate = () => {
  gate.closed = false;
  for (const answer of gate.waiting.splice(0)) answer();
};
/** Lets one answer through, once so many wait. */
const answerOneOf = async (waiting: number) => {
  await until(() => gate.waiting.length >= waiting);
  gate.waiting.shift()!();
};

beforeAll(async () => {
  const parts: Partial<ActivityDeps> = {
    async closedRollouts(run, ids) {
      if (run !== 'temporal-call') return closedRollouts(rig.client, run, ids);
      throw new TemporalError('The server does not tell.', { reason: 'temporal-call' });
    },
  };
  const model: Script = {
    async answer(request) {
      if (gate.closed) {
        const answered = new Promise<void>((resolve) => gate.waiting.push(resolve));
        gate.most = Math.max(gate.most, gate.waiting.length);
        await answered;
      }
      const [, query, , turn] = request.requestId.split('/');
      return Number(query!.slice(1)) % Number(turn) === 0 ? '\\boxed{4}' : '\\boxed{5}';
    },
  };
  rig = await openRig(model, parts);
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
const start = (run: string, input: Omit<CollectionInput, 'run' | 'out'>) =>
  rig.client.workflow.start('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    args: [{ run, out: rig.out, ...input }],
  });
const play = async (run: string, input: Omit<CollectionInput, 'run' | 'out'>) =>
  (await start(run, input)).result() as Promise<CollectionResult>;
const progress = (run: string) => rig.client.workflow.getHandle(run).query('progress') as Promise<CollectionProgress>;
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}
const untilProgress = async (run: string, holds: (p: CollectionProgress) => boolean) => {
  let p = await progress(run);
  await until(async () => holds((p = await progress(run))));
  return p;
};
/** The rollouts are not only begun: the model has been asked by each. */
const untilAsked = (run: string, requests: number) =>
  until(() => rig.backend.requests.filter((r) => r.requestId.startsWith(`${run}/`)).length >= requests);

describe('a collection', () => {
  test('plays every query and sample once, counts by turn, and leaves its result in the folder', async () => {
    const result = await play('all', { dataset: dataset(12), samples: 2, maxConcurrent: 5, settings: { numTurns: 2 } });
    expect(result).toMatchObject({ total: 24, cancelled: false });
    expect(result.counts.outcomes).toEqual({ complete: 24, undecided: 0, failed: 0, cancelled: 0 });
    expect(result.counts.judgedAt).toEqual([24, 24]);
    expect(result.counts.rightAt).toEqual([24, 12]);
    expect(result.counts.turns).toBe(48);
    expect((await openFileStore(rig.out, 'all').get('result'))!.record).toMatchObject(result);
    const asked = rig.backend.requests.map((r) => r.requestId).filter((id) => id.startsWith('all/'));
    expect(new Set(asked).size).toBe(48);
    expect(asked).toHaveLength(48);
  });

  test('never has more rollouts in flight than asked, and follows a change of that while it runs', async () => {
    closeGate();
    const handle = await start('tuned', { dataset: dataset(20), maxConcurrent: 3, settings: { numTurns: 1 } });
    // Each answer makes room for one more: whoever takes more than that is seen before the sixth.
    for (let n = 0; n < 6; n++) await answerOneOf(3);
    expect(gate.most).toBe(3);
    await handle.executeUpdate('tune', { args: [{ maxConcurrent: 6 }] });
    for (let n = 0; n < 6; n++) await answerOneOf(6);
    expect(gate.most).toBe(6);
    await expect(handle.executeUpdate('tune', { args: [{ maxConcurrent: 0 }] })).rejects.toThrow();
    openGate();
    expect(((await handle.result()) as CollectionResult).counts.outcomes.complete).toBe(20);
  });

  test('counts every rollout once over many continue-as-new, whose children outlive it', async () => {
    const result = await play('renewed', {
      dataset: dataset(30),
      maxConcurrent: 8,
      maxHistoryEvents: 40,
      settings: { numTurns: 1 },
    });
    expect(result.counts.outcomes.complete).toBe(30);
    const runs = [];
    for await (const w of rig.client.workflow.list({ query: 'WorkflowId = "renewed"' })) runs.push(w);
    expect(runs.length).toBeGreaterThan(3);
    await recordHistory(rig.client, 'collection-continued', runs[1]!);
    const asked = rig.backend.requests.map((r) => r.requestId).filter((id) => id.startsWith('renewed/'));
    expect(asked).toHaveLength(30);
  });

  test('ends in order when its workflow is cancelled', async () => {
    closeGate();
    const handle = await start('cancelled', { dataset: dataset(6), maxConcurrent: 2, settings: { numTurns: 1 } });
    await untilProgress('cancelled', (p) => p.inFlight === 2);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    openGate();
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect((await openFileStore(rig.out, 'cancelled').get('result'))!.record).toMatchObject({
      cancelled: true,
      counts: { outcomes: { cancelled: 2 } },
    });
  });

  test('takes over rollouts that run already', async () => {
    closeGate();
    const input = { dataset: dataset(5), maxConcurrent: 5, settings: { numTurns: 1 } };
    const first = await start('over', input);
    await untilAsked('over', 5);
    await first.terminate('the collection alone');
    const second = await start('over', input);
    await untilProgress('over', (p) => p.inFlight === 5);
    openGate();
    expect(((await second.result()) as CollectionResult).counts.outcomes.complete).toBe(5);
    expect(rig.backend.requests.filter((r) => r.requestId.startsWith('over/'))).toHaveLength(5);
  });

  test('fails, and says why, when it cannot learn how a rollout ended', async () => {
    closeGate();
    const input = { dataset: dataset(3), maxConcurrent: 3, settings: { numTurns: 1 } };
    const first = await start('temporal-call', input);
    await untilAsked('temporal-call', 3);
    await first.terminate('the collection alone');
    const second = await start('temporal-call', input);
    await expect(second.result()).rejects.toMatchObject({ cause: { cause: { type: 'temporal-call' } } });
    await recordHistory(rig.client, 'collection-takes-over-and-fails', second);
    openGate();
  });

  test('says what is missing when neither folder nor data set is there', async () => {
    await expect(play('nothing', {})).rejects.toMatchObject({ cause: { cause: { type: 'no-such-run' } } });
  });
});
