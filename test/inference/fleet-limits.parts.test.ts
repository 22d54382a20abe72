// How many requests a server of a fleet is given at once: by this worker, and by all that share a folder.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, closeAll, fleet, generations, request, servers } from '../support/fleet-rig.ts';

afterEach(closeAll);

describe('the limit of a server', () => {
  test('one server answers no more at a time than its limit, and nobody is lost', async () => {
    const all = await servers(2, { msPerToken: 2 });
    const backend = await fleet(all, { maxInFlightPerServer: 2 });
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, ...all.map((server) => server.running()));
    }, 1);
    const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => ask(backend, `run/q${i}/0`)));
    clearInterval(timer);
    expect(answers).toHaveLength(24);
    expect(most).toBeLessThanOrEqual(2);
  });

  test('a server can have a limit of its own', async () => {
    const all = await servers(2, { msPerToken: 2 });
    const serverLimits = { [`${all[0]!.url}/`]: 1 };
    const backend = await fleet(all, { fleetPolicy: 'round_robin', maxInFlightPerServer: 3, serverLimits });
    const most = [0, 0];
    const timer = setInterval(() => {
      for (const [i, server] of all.entries()) most[i] = Math.max(most[i]!, server.running());
    }, 1);
    await Promise.all(Array.from({ length: 24 }, (_, i) => ask(backend, `run/q${i}/0`)));
    clearInterval(timer);
    expect(most[0]).toBe(1);
    expect(most[1]).toBeLessThanOrEqual(3);
    expect(generations(all[1]!)).toBeGreaterThan(generations(all[0]!));
  });

  test('a weight or limit for a server that is not there is a mistake, and named', async () => {
    const all = await servers(1);
    for (const options of [{ serverWeights: { 'http://other:1': 2 } }, { serverLimits: { 'http://other:1': 2 } }])
      await expect(fleet(all, options)).rejects.toMatchObject({
        reason: 'bad-fleet',
        message: expect.stringContaining('http://other:1'),
      });
  });

  test('the limit holds over workers that share a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'everturn-fleet-'));
    const all = await servers(1, { msPerToken: 2 });
    const options = { maxInFlightPerServer: 2, leaseFolder: folder };
    const workers = await Promise.all([fleet(all, options), fleet(all, options), fleet(all, options)]);
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, all[0]!.running());
    }, 1);
    await Promise.all(workers.flatMap((worker) => [0, 1, 2].map((i) => ask(worker, `run/q${i}/0`))));
    clearInterval(timer);
    expect(most).toBeLessThanOrEqual(2);
    expect(generations(all[0]!)).toBe(9);
    await rm(folder, { recursive: true });
  });

  test('a request that waits for a place can be aborted', async () => {
    const all = await servers(1, { msPerToken: 50 });
    const backend = await fleet(all, { maxInFlightPerServer: 1 });
    const first = ask(backend, 'run/a/0', { maxNewTokens: 20 });
    const controller = new AbortController();
    const second = backend.generate(request('run/b/0'), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await first;
    expect(generations(all[0]!)).toBe(1);
  });
});
