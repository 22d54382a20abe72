// A run paused, tuned, resumed and cancelled from the viewer's page, on a real Temporal server: each request does what the
// command does. Needs dist/ (npm run build).

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { SteerReply } from '../../viewer/model/steer.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
let everturn: Everturn;
let openGate = () => {};
const gate = new Promise<void>((resolve) => (openGate = resolve));

beforeAll(async () => {
  rig = await openRig({
    async answer() {
      await gate;
      return '\\boxed{4}';
    },
  });
  everturn = openEverturn({ TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: rig.namespace });
});
afterAll(async () => {
  openGate();
  await everturn.close();
  await rig.close();
});

describe('everturn view --steer', () => {
  test('pauses, tunes, resumes and cancels a run that is played', async () => {
    const run = 'steered';
    const dataset = join(rig.out, 'data.jsonl');
    const rows = Array.from({ length: 12 }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
    writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
    const worker = await rig.startWorker();
    const handle = await rig.client.workflow.start('collection', {
      workflowId: run,
      taskQueue: 'everturn',
      args: [{ run, out: rig.out, dataset, maxConcurrent: 2, settings: { numTurns: 1 } }],
      memo: { out: rig.out },
    });
    const progress = async () =>
      (await handle.query('progress')) as { state: string; inFlight: number; maxConcurrent: number };
    while ((await progress()).inFlight < 2) await sleep(50);

    const view = everturn.start('view', '--steer', '--by', 'ana', '--json', '--no-open', '--out', rig.out);
    await expect.poll(() => view.output()).toContain('"url"');
    const line = view
      .output()
      .split('\n')
      .find((text) => text.startsWith('{'))!;
    const url = new URL((JSON.parse(line) as { url: string }).url);
    const key = new URLSearchParams(url.hash.split('?')[1]).get('steer')!;
    const welcome = await fetch(`${url.origin}/${url.search}`, { redirect: 'manual' });
    const cookie = welcome.headers.get('set-cookie')!.split(';')[0]!;
    const act = async (body: object, headers: Record<string, string> = {}) => {
      const all = {
        ...{ cookie, origin: url.origin, 'content-type': 'application/json', 'x-everturn-steer': key },
        ...headers,
      };
      const response = await fetch(`${url.origin}/api/act`, {
        method: 'POST',
        headers: all,
        body: JSON.stringify({ run, ...body }),
      });
      return { status: response.status, reply: (await response.json()) as SteerReply };
    };

    expect((await act({ act: 'pause' }, { 'x-everturn-steer': 'guessed' })).status).toBe(403);
    expect((await act({ act: 'pause' }, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await act({ act: 'pause', run: '../elsewhere' })).status).toBe(404);
    expect((await progress()).state).toBe('running');

    expect((await act({ act: 'pause' })).reply).toMatchObject({
      ok: true,
      said: expect.stringContaining('is paused: 0 of 12 done, 2 rollouts in flight') as string,
    });
    expect((await progress()).state).toBe('paused');
    expect((await act({ act: 'tune', maxConcurrent: 5 })).reply).toMatchObject({ ok: true });
    expect(await progress()).toMatchObject({ state: 'paused', inFlight: 2, maxConcurrent: 5 });
    expect((await act({ act: 'resume' })).reply).toMatchObject({ ok: true });
    await expect.poll(progress).toMatchObject({ state: 'running', inFlight: 5 });
    const none = await act({ act: 'tune', maxConcurrent: 0 });
    expect(none.reply).toMatchObject({
      ok: false,
      said: expect.stringContaining('--max-concurrent: "0" does not fit') as string,
    });

    const cancelled = await act({ act: 'cancel' });
    expect(cancelled.reply).toMatchObject({ ok: true, said: expect.stringContaining('is cancelled') as string });
    expect(await handle.result()).toMatchObject({ cancelled: true, total: 12 });
    // Afterwards it says so.
    expect((await act({ act: 'pause' })).reply).toMatchObject({
      ok: false,
      said: expect.stringContaining('has ended') as string,
    });
    view.child.kill('SIGINT');
    expect((await view.ended).code).toBe(0);
    openGate();
    await worker.stop();
  });
});
