// A server that comes back late: it gets the weights in force before it is asked for anything of the run.

import { afterEach, describe, expect, test } from 'vitest';
import type { LateServers } from '../../inference/backend.ts';
import { isLate } from '../../domain/weights/weights.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { ask, closeAll, fleet, opened, servers } from '../support/fleet-rig.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

const ENTRY = { folder: '/ckpt', rewind: false, contentHash: null, workflowId: 'w', declaredAt: 0 };
const entries = [
  { ...ENTRY, number: 1, version: 7, label: '7', line: 0 },
  { ...ENTRY, number: 2, version: 8, label: '8', line: 0 },
  { ...ENTRY, number: 3, version: 5, label: 'r1:v5', line: 1 },
];
const known = { entries, current: entries[2]! };

function inForce(): LateServers & { asked: number } {
  const late = {
    asked: 0,
    wanted: async (label: string | null) => (isLate(label, known) ? known.current.label : null),
    adapter: async () => null,
    update: () => void late.asked++,
  };
  return late;
}
/** Answers of the run that the server made: those of a canary have no rid. */
const answers = ({ seen }: ModelServer) =>
  seen.filter(({ path, body }) => path === '/generate' && 'rid' in body).length;

describe('a server that is late', () => {
  test.each([
    ['default', true],
    ['7', true],
    ['8', true],
    ['unsure/9?', true],
    ['r1:v5', false],
    ['9', false],
    ['of-another-trainer', false],
    [null, false],
  ])('is one that says it has %s: %s', (label, late) => {
    expect(isLate(label, known)).toBe(late);
    expect(isLate(label, { entries, current: null })).toBe(false);
  });

  test('is asked for nothing at the start of a worker, and for its part once it has the version', async () => {
    const all = await servers(2);
    all[0]!.engine.version = 'r1:v5';
    const late = inForce();
    const backend = await fleet(all, { late });
    for (let q = 0; q < 12; q++) expect((await ask(backend, `run/q${q}/0`)).server).toBe(all[0]!.url);
    expect(answers(all[1]!)).toBe(0);
    expect(late.asked).toBeGreaterThan(0);
    all[1]!.engine.version = 'r1:v5';
    await expect.poll(() => backend.serverStatus!()[1]!.state, { timeout: 5000 }).not.toBe('down');
    const homes = new Set<string | null>();
    for (let q = 0; q < 40; q++) homes.add((await ask(backend, `run/q${q}/0`)).server);
    expect(homes.size).toBe(2);
  });

  test('that is alone is waited for, and says what it waits for', async () => {
    const all = await servers(1);
    const backend = await fleet(all, { late: inForce() });
    await expect(ask(backend, 'run/q/0')).rejects.toMatchObject({ reason: 'old-weights', retryable: true });
    await expect(ask(backend, 'run/q/0')).rejects.toThrow('has weights "default", and the run is at "r1:v5"');
    all[0]!.engine.version = 'r1:v5';
    await expect
      .poll(async () => (await ask(backend, 'run/q/0').catch(() => null))?.server, { timeout: 5000 })
      .toBe(all[0]!.url);
    expect(answers(all[0]!)).toBe(1);
  });

  test('since it was started again makes no answer that is used, though nobody saw it go', async () => {
    const all = await servers(2);
    for (const { engine } of all) engine.version = 'r1:v5';
    const backend = await fleet(all, { late: inForce() });
    let rollout = '';
    for (let q = 0; rollout === ''; q++)
      if ((await ask(backend, `run/q${q}/0`)).server === all[1]!.url) rollout = `run/q${q}/0`;
    await all[1]!.close();
    const back = await modelServer({ kind: 'sglang', modelPath: TINY_FOLDER, port: all[1]!.port });
    opened.push(back);
    for (let i = 0; i < 20; i++) {
      const reply = await ask(backend, rollout, { requestId: `${rollout}/${i}` }).catch(() => null);
      if (reply) expect(reply.versions.map(({ versionLabel }) => versionLabel)).toEqual(['r1:v5']);
    }
  });
});
