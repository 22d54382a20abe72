// Where no worker answers, `status` and `list` say what the run's workers last told. Needs dist/ (npm run build).

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ListedRun } from '../../library/list-runs.ts';
import type { RunStatus } from '../../cli/commands/status.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { jsonLines } from '../support/json-lines.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { until } from '../support/until.ts';

let rig: Rig;
let everturn: Everturn;
let openGate = () => {};
const gate = new Promise<void>((resolve) => (openGate = resolve));

beforeAll(async () => {
  rig = await openRig({
    async answer({ requestId }) {
      const [, query] = requestId.split('/');
      if (query !== 'q0' && query !== 'q1') await gate;
      return '\\boxed{4}';
    },
  });
  everturn = openEverturn({ TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: rig.namespace });
});
afterAll(async () => {
  everturn.close();
  await rig.close();
});

describe('everturn status', () => {
  test('what was told when somebody steered is said of a run whose workers are gone', async () => {
    const run = 'told';
    const dataset = join(rig.out, 'data.jsonl');
    const rows = Array.from({ length: 6 }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
    writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
    const worker = await rig.startWorker();
    const handle = await rig.client.workflow.start('collection', {
      workflowId: run,
      taskQueue: 'everturn',
      args: [{ run, out: rig.out, dataset, maxConcurrent: 3, settings: { numTurns: 1 } }],
      memo: { out: rig.out },
    });
    await until('two are done', async () => {
      const { done, inFlight } = (await handle.query('progress')) as { done: number; inFlight: number };
      return done === 2 && inFlight === 3;
    });
    const steeredAt = Date.now();
    await handle.executeUpdate('pause');
    const asked = async () =>
      JSON.parse(await everturn.mustCall('status', run, '--out', rig.out, '--json')) as RunStatus;
    // A worker without a processor answers no query in time, and its memo is read.
    await expect.poll(asked).toMatchObject({ source: 'temporal', state: 'paused', done: 2, toldAt: null });

    openGate();
    await worker.stop();
    const told = await asked();
    expect(told).toMatchObject({ source: 'memo', done: 2, total: 6, inFlight: 3, maxConcurrent: 3, numTurns: 1 });
    expect(told.counts).toMatchObject({ rightAt: [2], outcomes: { complete: 2, failed: 0 } });
    // A fresh report needs no excuse; on a busy machine it may be a minute old.
    const isFresh = Date.now() - told.toldAt! < 50_000;
    if (isFresh) expect(told).toMatchObject({ state: 'paused', waitingFor: null });
    else expect(told.state).toMatch(/^paused/);
    expect(told.toldAt).toBeGreaterThanOrEqual(steeredAt - 5000);
    expect(told.toldAt).toBeLessThanOrEqual(Date.now());
    expect(await everturn.mustCall('status', run, '--out', rig.out)).toMatch(
      /Reported by its workers \d+ (?:s|min) ago/,
    );

    const listed = jsonLines<ListedRun>(await everturn.mustCall('list', '--out', rig.out, '--json'));
    expect(listed).toMatchObject([{ run, state: 'paused', done: 2 }]);
  });

  test.each([
    ['of another shape', { toldAt: 1 }],
    ['that is no object', '50 %'],
    ['with counts of another shape', { toldAt: 1, total: 1, done: 1, inFlight: 0, state: 'running', counts: {} }],
  ])('a memo %s, which whoever started a run gave it, is not taken for its progress', async (_, progress) => {
    const run = `odd-${Math.random().toString(36).slice(2, 8)}`;
    await rig.client.workflow.start('collection', {
      workflowId: run,
      taskQueue: 'everturn',
      args: [{ run, out: rig.out, dataset: join(rig.out, 'data.jsonl') }],
      memo: { out: rig.out, progress },
    });
    const status = await everturn.mustCall('status', run, '--out', rig.out, '--json');
    expect(JSON.parse(status)).toMatchObject({ source: 'records', done: 0, toldAt: null });
  });
});
