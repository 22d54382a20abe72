// A run with more in flight than one workflow may have, on a real server: a workflow may have 10 here, not 1,000. Limits, pauses,
// cancellations and terminations of such runs: test/chaos/blocks-ways.chaos.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionInput, CollectionResult } from '../../domain/messages.ts';
import { openFileStore } from '../../storage/files.ts';
import { prove } from '../chaos/rig-run.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({
    answer({ requestId }) {
      const [, query, , turn] = requestId.split('/');
      return Number(query!.slice(1)) % Number(turn) === 0 ? '\\boxed{4}' : '\\boxed{5}';
    },
  });
  await rig.startWorker();
});
afterAll(() => rig.close());

function start(run: string, queries: number, more: Omit<CollectionInput, 'run' | 'out' | 'dataset'>) {
  const dataset = join(rig.out, `data-${queries}.jsonl`);
  const rows = Array.from({ length: queries }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const input: CollectionInput = { run, out: rig.out, dataset, maxWindow: 10, settings: { numTurns: 1 }, ...more };
  return rig.client.workflow.start('collection', { workflowId: run, taskQueue: 'everturn', args: [input] });
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

  test('is refused where a trainer lives on it, with the limit', async () => {
    const handle = await start('trained', 10, { samples: 2, maxConcurrent: 20, train: {} });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'bad-value', message: expect.stringContaining('at most 10 rollouts in flight') as string },
    });
  });
});
