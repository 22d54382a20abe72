// Records the scenarios that have no file yet, on a real server with a scripted model. Run by
// `npm run record-histories`; what it writes is replayed for ever by test/workflows/replay.test.ts.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, test } from 'vitest';
import { ModelError } from '../../domain/errors.ts';
import type { CollectionInput, RolloutInput } from '../../workflows/messages.ts';
import { openRig, type Rig } from '../support/rig.ts';

const ROOT = join(import.meta.dirname, '../..');
const RIGHT = '\\boxed{4}';
const WRONG = '\\boxed{5}';

let rig: Rig;
const tries = new Map<string, number>();
beforeAll(async () => {
  rig = await openRig({
    async answer({ requestId }) {
      const [, query, , turn] = requestId.split('/');
      const n = (tries.get(requestId) ?? 0) + 1;
      tries.set(requestId, n);
      if (query === 'never-right') return WRONG;
      if (query === 'right-second') return turn === '1' ? WRONG : RIGHT;
      if (query === 'busy' && n < 3) throw new ModelError('Busy.', { reason: 'server-busy', retryable: true });
      if (query === 'refused' && turn === '2') throw new ModelError('No such model.', { reason: 'model-not-found' });
      if (query!.startsWith('hanging')) await sleep(30_000, undefined, { ref: false });
      await sleep(20);
      return RIGHT;
    },
  });
  await rig.startWorker();
});
afterAll(() => rig.close());

async function record(name: string, workflowId: string, runId?: string): Promise<void> {
  const history = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
  // Who recorded it, and where, is nobody's business.
  const scrub = (key: string, value: unknown) => {
    if (/^(identity|name)$/.test(key) && `${value as string}`.includes('@')) return 'everturn';
    return key === 'stackTrace' ? `${value as string}`.replaceAll(`${ROOT}/`, '') : value;
  };
  const text = JSON.stringify(JSON.parse(historyToJSON(history)), scrub, 1);
  writeFileSync(fileOf(name), `${text}\n`);
}

const fileOf = (name: string) => join(import.meta.dirname, `${name}.json`);

function scenario(name: string, play: () => Promise<{ workflowId: string; runId?: string }>): void {
  test.skipIf(existsSync(fileOf(name)))(name, async () => {
    const { workflowId, runId } = await play();
    await record(name, workflowId, runId);
  });
}

async function rollout(query: string, settings: RolloutInput['settings'], steer?: (id: string) => Promise<unknown>): Promise<{ workflowId: string }> {
  const workflowId = `recorded/${query}/0`;
  const row = { query_id: query, question: 'What is 2 + 2?', answer: '4' };
  const args = [{ run: 'recorded', out: rig.out, row, settings }];
  const handle = await rig.client.workflow.start('rollout', { workflowId, taskQueue: 'everturn', args });
  await steer?.(workflowId);
  await handle.result().catch(() => {});
  return { workflowId };
}

async function collection(run: string, queries: number, input: Partial<CollectionInput>, steer?: (id: string) => Promise<unknown>): Promise<{ workflowId: string }> {
  const dataset = join(rig.out, `${run}.jsonl`);
  const rows = Array.from({ length: queries }, (_, i) => JSON.stringify({ id: `q${i}`, question: '2 + 2?', answer: '4' }));
  writeFileSync(dataset, rows.join('\n'));
  const args = [{ run, out: rig.out, dataset, settings: { numTurns: 1 }, ...input }];
  const handle = await rig.client.workflow.start('collection', { workflowId: run, taskQueue: 'everturn', args });
  await steer?.(run);
  await handle.result().catch(() => {});
  return { workflowId: run };
}

/** One run of a collection that continued as new, by its place in the chain. */
async function continued(place: 0 | -1): Promise<{ workflowId: string; runId: string }> {
  const { workflowId } = await collection(`continued${place}`, 30, { maxConcurrent: 4, maxHistoryEvents: 60 });
  const runs = [];
  for await (const w of rig.client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) runs.push(w);
  runs.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
  return { workflowId, runId: runs.at(place)!.runId };
}

const update = (name: string) => (id: string) => sleep(300).then(() => rig.client.workflow.getHandle(id).executeUpdate(name));

scenario('rollout-right-at-once', () => rollout('right', { numTurns: 3 }));
scenario('rollout-never-right', () => rollout('never-right', { numTurns: 5 }));
scenario('rollout-stop-on-success', () => rollout('right-second', { numTurns: 5, stop: 'success' }));
scenario('rollout-retried-generation', () => rollout('busy', { numTurns: 2 }));
scenario('rollout-failed', () => rollout('refused', { numTurns: 3 }));
scenario('rollout-cancelled', () => rollout('hanging', {}, (id) => sleep(500).then(() => rig.client.workflow.getHandle(id).cancel())));
scenario('rollout-stopped', () => rollout('hanging-2', {}, update('stop')));
scenario('collection-whole', () => collection('whole', 6, { maxConcurrent: 2, samples: 2 }));
scenario('collection-continued-first', () => continued(0));
scenario('collection-continued-last', () => continued(-1));
scenario('collection-stopped', () => collection('stopped', 20, { maxConcurrent: 2 }, update('stop')));
