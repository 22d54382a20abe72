// Several servers as one backend: who gets what, and what happens when one of them goes.

import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { openFleet } from '../../inference/fleet/fleet.ts';
import { tokenRules } from '../../inference/fleet/token-fleet.ts';
import { tokenizerLoader } from '../../inference/tokenizer/server-tokenizer.ts';
import { openSglang } from '../../inference/servers/sglang.ts';
import { modelServer, type Fault } from '../support/model-server.ts';
import { ask, closeAll, fleet, opened, servers, SPREAD } from '../support/fleet-rig.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

describe('a fleet', () => {
  test('a rollout stays with its server, turn by turn and after a restart', async () => {
    const all = await servers(3);
    const first = await fleet(all);
    const homes = new Map<string, string | null>();
    // Addresses are by chance: of 60 rollouts each server has some.
    for (let q = 0; q < 60; q++) homes.set(`run/q${q}/0`, (await ask(first, `run/q${q}/0`)).server);
    expect(new Set(homes.values()).size).toBe(3);
    const second = await fleet(all.toReversed());
    for (const [rollout, home] of homes) {
      expect((await ask(first, rollout, { requestId: `${rollout}/2` })).server).toBe(home);
      expect((await ask(second, rollout, { requestId: `${rollout}/3` })).server).toBe(home);
    }
  });

  test('a dead server’s rollouts go to others, and come back with it', async () => {
    const all = await servers(2);
    const backend = await fleet(all);
    let rollout = '';
    for (let q = 0; rollout === ''; q++)
      if ((await ask(backend, `run/q${q}/0`)).server === all[0]!.url) rollout = `run/q${q}/0`;
    await all[0]!.close();
    await expect(ask(backend, rollout)).rejects.toMatchObject({
      reason: expect.stringMatching(/^server-(unreachable|reset)$/),
      retryable: true,
    });
    await expect.poll(async () => (await ask(backend, rollout).catch(() => null))?.server).toBe(all[1]!.url);
    const back = await modelServer({ kind: 'sglang', modelPath: TINY_FOLDER, port: all[0]!.port });
    opened.push(back);
    await expect.poll(() => backend.serverStatus!()[0]!.state).not.toBe('down');
    expect((await ask(backend, rollout)).server).toBe(back.url);
  });

  test('a fleet starts with those that are there, and takes in the others later', async () => {
    const [there, later] = await servers(2);
    await later!.close();
    const lines: string[] = [];
    const backend = await fleet([there!, later!], {}, { coolDownMs: 20, longestCoolDownMs: 50 }, (line) =>
      lines.push(line),
    );
    expect(backend.serverStatus!().map(({ state }) => state)).toEqual(['up', 'down']);
    expect(lines.join('\n')).toContain(later!.url);
    const back = await modelServer({ kind: 'sglang', modelPath: TINY_FOLDER, port: later!.port });
    opened.push(back);
    await expect.poll(() => backend.serverStatus!()[1]!.state).toBe('trying');
    expect(lines.join('\n')).toContain(`${later!.url} is back`);
  });

  test('when all are down, it says so, with each one’s word and when to try again', async () => {
    const all = await servers(2);
    const backend = await fleet(all, {}, { coolDownMs: 60_000, longestCoolDownMs: 60_000 });
    for (const server of all) await server.close();
    for (let i = 0; i < 6; i++) await ask(backend, `run/q${i}/0`).catch(() => undefined);
    const error: unknown = await ask(backend, 'run/q/0').catch((e: unknown) => e);
    expect(error).toMatchObject({ reason: 'server-unreachable', retryable: true });
    expect(error).toMatchObject({
      message: expect.stringContaining('All 2 servers are down'),
      retryAfterMs: expect.any(Number),
    });
  });

  test('a busy server is passed over while it asked to be', async () => {
    const all = await servers(2);
    const backend = await fleet(all);
    const home = (await ask(backend, 'run/q/0')).server;
    const busy: Fault = { status: 429, body: '', headers: { 'retry-after': '60' } };
    all.find(({ url }) => url === home)!.fail(busy);
    await expect(ask(backend, 'run/q/0')).rejects.toMatchObject({ reason: 'server-busy', retryAfterMs: 60_000 });
    expect((await ask(backend, 'run/q/0')).server).not.toBe(home);
  });

  test('the next chunk goes where the one before was made, while the weights are the same', async () => {
    const all = await servers(3);
    const backend = await fleet(all, { fleetPolicy: 'round_robin' });
    for (const server of all) await ask(backend, server.url);
    for (const { url } of all) {
      for (let i = 0; i < 3; i++)
        expect((await ask(backend, 'r', { prefer: { server: url, version: 0 } })).server).toBe(url);
    }
    const moved = await Promise.all(
      [1, 2, 3].map(() => ask(backend, 'r', { prefer: { server: all[0]!.url, version: 7 } })),
    );
    expect(new Set(moved.map(({ server }) => server)).size).toBe(3);
  });

  test('tells each server’s requests, failures, latency and version', async () => {
    const all = await servers(2);
    const backend = await fleet(all, { fleetPolicy: 'round_robin' });
    all[1]!.engine.version = 'step-3';
    for (let i = 0; i < 4; i++) await ask(backend, `run/q${i}/0`);
    all[0]!.fail({ status: 500, body: { error: { message: 'out of luck' } } });
    await ask(backend, 'run/q/0').catch(() => undefined);
    const [one, two] = backend.serverStatus!();
    expect(one).toMatchObject({
      url: all[0]!.url,
      state: 'up',
      requests: 3,
      failures: 1,
      failuresBy: { 'server-error': 1 },
      inFlight: 0,
      version: 0,
      versionLabel: 'default',
    });
    expect(one!.lastFailure).toContain('out of luck');
    expect(two).toMatchObject({
      requests: 2,
      failures: 0,
      failuresBy: {},
      version: 3,
      versionLabel: 'step-3',
      lastFailure: null,
    });
    expect(two!.latencyP50Ms).toBeGreaterThan(0);
  });

  test('a turn whose weights change under it tells which token is whose', async () => {
    const [server] = await servers(1, { msPerToken: 2 });
    const backend = await fleet([server!]);
    const asked = ask(backend, 'run/q/0', { maxNewTokens: 100 });
    await expect.poll(() => server!.running()).toBe(1);
    await expect.poll(() => server!.engine.log.at(-1)!.outputs.length).toBeGreaterThan(3);
    server!.engine.version = 'step-1';
    const { versions, outputIds } = await asked;
    expect(versions.map(({ version }) => version)).toEqual([0, 1]);
    expect(versions.map(({ versionLabel }) => versionLabel)).toEqual(['default', 'step-1']);
    expect(versions[0]!.end).toBe(versions[1]!.start);
    expect(versions[1]!.end).toBe(outputIds.length);
  });

  test('servers with different vocabularies are no fleet, and are named', async () => {
    const all = await servers(2);
    const tokenizers = tokenizerLoader(null);
    const opening = openFleet({
      ...SPREAD,
      urls: all.map(({ url }) => url),
      log: () => undefined,
      rules: tokenRules(() => undefined),
      async open(url) {
        const met = await openSglang({ url, apiKey: null, tokenizers, log: () => undefined });
        return url === all[1]!.url ? { ...met, facts: { ...met.facts, vocabSize: 700 } } : met;
      },
    });
    await expect(opening).rejects.toMatchObject({
      name: 'ModelError',
      reason: 'mixed-fleet',
      message: expect.stringContaining(`${all[0]!.url}: 692; ${all[1]!.url}: 700`),
    });
  });

  test('servers that mean different things by a logprob serve only where these are one', async () => {
    const all = [...(await servers(1)), ...(await servers(1, { meaning: 'raw' }))];
    const lines: string[] = [];
    const backend = await fleet(all, {}, {}, (line) => lines.push(line));
    expect(backend.facts.logprobs).toBe('mixed');
    expect(backend.facts.logprobsBy).toEqual({ [all[0]!.url]: 'temperature', [all[1]!.url]: 'raw' });
    expect(lines.join('\n')).toContain(`${all[0]!.url}: temperature; ${all[1]!.url}: raw`);
    expect((await ask(backend, 'run/q/0')).finish).toBe('length');
    const cold = ask(backend, 'run/q/0', { sampling: { ...DEFAULT_SAMPLING, temperature: 0.5 } });
    await expect(cold).rejects.toMatchObject({
      reason: 'mixed-fleet',
      retryable: false,
      message: expect.stringContaining(all[1]!.url),
    });
  });

  test('a server that comes back with another switch for its logprobs serves only where it makes no difference', async () => {
    const [server] = await servers(1);
    const backend = await fleet([server!], {}, { coolDownMs: 10, longestCoolDownMs: 20 });
    const cold = { sampling: { ...DEFAULT_SAMPLING, temperature: 0.5 } };
    expect((await ask(backend, 'run/q/0', cold)).finish).toBe('length');
    await server!.close();
    const failed = async () =>
      ((await ask(backend, 'run/q/0', cold).catch((error: unknown) => error)) as Error).message;
    await expect.poll(failed).toContain('down');
    opened.push(await modelServer({ kind: 'sglang', modelPath: TINY_FOLDER, meaning: 'raw', port: server!.port }));
    await expect.poll(() => backend.serverStatus!()[0]!.state).not.toBe('down');
    await expect(ask(backend, 'run/q/0', cold)).rejects.toMatchObject({
      reason: 'mixed-fleet',
      message: expect.stringMatching(/at the start: temperature; .*: raw/),
    });
    expect((await ask(backend, 'run/q/0')).finish).toBe('length');
  });
});
