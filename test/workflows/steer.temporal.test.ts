// One rollout steered by a person, by the command line against a real server and worker: a new attempt, further turns. Each
// refusal is one paragraph with the way out.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { main } from '../../cli/main.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { openFileStore } from '../../records/file-store.ts';
import { prove, startRun } from '../chaos/rig-run.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
let openGate: () => void;
const gate = new Promise<void>((resolve) => (openGate = resolve));
const failed = new Set<string>();

beforeAll(async () => {
  rig = await openRig({
    async answer({ requestId }) {
      if (requestId === 'live/gated/0/1') await gate;
      if (/^(?:ended\/broken|several\/lost\d)\/0\/1$/.test(requestId) && !failed.has(requestId)) {
        failed.add(requestId);
        throw new ModelError('The server said no.', { reason: 'model-not-found' });
      }
      return '\\boxed{5}';
    },
  });
  await rig.startWorker();
  vi.stubEnv('TEMPORAL_ADDRESS', inject('temporalAddress'));
  vi.stubEnv('TEMPORAL_NAMESPACE', rig.namespace);
  const row = (query_id: string) => ({ query_id, question: 'What is 2 + 2?', answer: '4' });
  await startRun(rig, { run: 'live', rows: [row('gated')], settings: { numTurns: 3 } });
  const handle = await startRun(rig, { run: 'ended', rows: [row('whole'), row('broken')], settings: { numTurns: 2 } });
  await handle.result();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rig.close();
});

async function everturn(...args: string[]) {
  const io = scriptedIo({ cwd: rig.out, env: { EVERTURN_HOME: `${rig.out}/home`, NO_COLOR: '1' } });
  io.clock.ms = Date.now();
  const [command, run, ...rest] = args;
  const code = await main(io, [command!, run!, '--out', rig.out, ...rest]);
  return { code, ...io.text };
}

const refused = async (said: string, ...args: string[]) => {
  const { code, err } = await everturn(...args);
  expect(err).toContain(said);
  expect(err.trimEnd()).not.toContain('\n');
  expect(code).toBe(2);
};

describe('a rollout in flight', () => {
  test('is neither forked, extended nor played again before it has ended', async () => {
    const store = openFileStore(rig.out, 'live');
    while (!(await store.get('rollout', { run: 'live', query: 'gated', sample: 0, attempt: 1 }))) await sleep(20);
    await refused('has not ended', 'fork', 'live', 'gated', '--from-turn', '1');
    await refused('has not ended', 'extend', 'live', 'gated', '--turns', '1');
    await refused('has not ended', 'retry', 'live', 'gated');
    openGate();
    await rig.client.workflow.getHandle('live').result();
  });
});

describe('a new attempt', () => {
  test('plays every failed rollout of a run again, and then the last attempts count', async () => {
    const rows = ['lost1', 'whole', 'lost2'].map((query_id) => ({ query_id, question: 'What is 2 + 2?', answer: '4' }));
    await (await startRun(rig, { run: 'several', rows, settings: { numTurns: 2 } })).result();
    const counts = async () => {
      const status = JSON.parse((await everturn('status', 'several', '--json')).out) as {
        counts: object;
        done: number;
      };
      const io = scriptedIo({ cwd: rig.out, env: { EVERTURN_HOME: `${rig.out}/home` } });
      await main(io, ['list', '--out', rig.out, '--json']);
      const runs = io.text.out.trim().split('\n');
      const listed = JSON.parse(runs.find((line) => line.includes('"run":"several"'))!) as { counted: number };
      return { ...status.counts, done: status.done, listed: listed.counted };
    };
    expect(await counts()).toMatchObject({ outcomes: { complete: 1, failed: 2 }, done: 3, judgedAt: [1, 1] });
    await refused('There is nothing to play again', 'retry', 'several');
    await refused('--failed takes the whole run', 'retry', 'several', 'lost1', '--failed');
    expect((await everturn('retry', 'several', '--failed', '--dry-run')).out).toBe('Would play 2 rollouts again.\n');
    const { code, out, err } = await everturn('retry', 'several', '--failed', '--by', 'anna');
    expect(code, err).toBe(0);
    expect(out).toBe('2 rollouts played again: 2 complete.\n');
    expect(await counts()).toMatchObject({
      ...{ outcomes: { complete: 3, failed: 0 }, reasons: {}, failures: [] },
      ...{ done: 3, judgedAt: [3, 3], listed: 3 },
    });
    expect((await everturn('retry', 'several', '--failed')).out).toBe('No rollout of several failed.\n');
    expect((await prove(rig, 'several')).breaches).toEqual([]);
  });

  test('plays a failed rollout again, and only such a one', async () => {
    await refused('is complete; only what failed or was undecided', 'retry', 'ended', 'whole');
    const { code, out, err } = await everturn(
      'retry',
      'ended',
      'broken',
      '--reason',
      'the server is back',
      '--by',
      'anna',
    );
    expect(code, err).toBe(0);
    expect(out).toContain('broken, attempt 2 is complete');
    const { breaches, summary } = await prove(rig, 'ended');
    expect(breaches).toEqual([]);
    expect(summary).toMatchObject({ rollouts: 3, acts: 1, byOutcome: { complete: 2, failed: 0 } });
    await refused('is complete', 'retry', 'ended', 'broken');
    await refused('was tried again: attempt 2', 'retry', 'ended', 'broken', '--attempt', '1');
    const open = rig.client.workflow.execute('rollout', {
      workflowId: 'ended/whole/0/retry-2',
      taskQueue: 'everturn',
      args: [{ run: 'ended', out: rig.out, index: 0, attempt: 2 }],
    });
    await expect(open).rejects.toMatchObject({ cause: { type: 'not-allowed' } });
  });
});

describe('further turns', () => {
  test('are a fork behind the last turn: the rollout stays as it was', async () => {
    const { code, err } = await everturn('extend', 'ended', 'whole', '--turns', '2', '--name', 'longer');
    expect(code, err).toBe(0);
    const end = (await openFileStore(rig.out, 'longer').get('end', {
      run: 'longer',
      query: 'whole',
      sample: 0,
      attempt: 1,
    }))!;
    expect(end.record).toMatchObject({ stopReason: 'max-turns', success: [0, 0, 0, 0] });
    expect((await openFileStore(rig.out, 'longer').get('run'))!.record).toMatchObject({
      forkedFrom: { how: 'extend', turn: 3 },
      settings: { numTurns: 4 },
    });
    for (const run of ['ended', 'longer']) expect((await prove(rig, run)).breaches, run).toEqual([]);
    await refused('--turns is "0"', 'extend', 'ended', 'whole', '--turns', '0');
    await refused('ended by failed', 'extend', 'ended', 'broken', '--attempt', '1', '--turns', '1');
    await refused('`everturn extend', 'fork', 'ended', 'whole', '--from-turn', '3');
    await refused(
      'no feedback that a message could follow',
      'fork',
      'ended',
      'whole',
      '--from-turn',
      '1',
      '--say',
      'x',
    );
    await refused('There is no run "nowhere"', 'extend', 'nowhere', 'whole', '--turns', '1');
  });
});
