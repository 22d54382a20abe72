// A run against inference servers, through the built command line: two servers that speak SGLang's protocol,
// whose weights change under the run, and an endpoint that gives text only. (The servers are scripted; `npm run
// test:servers` plays against real ones.)

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Why } from '../../cli/view/why-text.ts';
import type { FleetReport } from '../../records/run/fleet-status.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';
import { type ModelServer, modelServer } from '../support/model-server.ts';

const ROOT = join(import.meta.dirname, '../..');
const DATA = join(ROOT, 'examples/arithmetic.jsonl');
const TOKENIZER = ['--tokenizer', join(ROOT, 'models/tiny')];

let everturn: Everturn;
let servers: ModelServer[];
beforeAll(async () => {
  everturn = openEverturn();
  servers = await Promise.all([1, 2].map(() => modelServer({ kind: 'sglang', msPerToken: 2, length: 2048 })));
});
afterAll(async () => {
  await everturn.close();
  await Promise.all(servers.map((server) => server.close()));
});

describe('a run against two servers', () => {
  test('tells for every token which version made it, while weights change under it', { timeout: 300_000 }, async () => {
    const model = `sglang:${servers.map((s) => s.url).join(',')}`;
    const settings = ['--num-turns', '3', '--limit', '12', '--max-new-tokens', '48', '--new-tokens-per-chunk', '16'];
    const running = everturn.start('run', DATA, '--name', 'moving', '--model', model, ...TOKENIZER, ...settings);
    let over = false;
    void running.ended.then(() => (over = true));
    // What the logprobs are of is found before the run is made, within few looks of one version each.
    const store = openFileStore(join(everturn.folder, 'runs'), 'moving');
    await until('the run', async () => over || (await store.getRun()));
    for (let version = 1; !over; version++) {
      for (const server of servers) server.engine.version = `v${version}`;
      await sleep(150);
    }
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    await everturn.mustCall('check', 'moving');

    let spans = 0;
    for await (const { turns } of readTrajectories(store)) {
      for (const { record } of turns) {
        const { versions, versionStart, versionEnd, outputIds, server } = record;
        expect(servers.map((s) => s.url)).toContain(server);
        expect([versions[0]!.version, versions.at(-1)!.version]).toEqual([versionStart, versionEnd]);
        expect(versions.map((v) => v.versionLabel)).toEqual(versions.map((v) => `v${v.version}`));
        expect(versions.at(-1)!.end).toBe(outputIds.length);
        if (versions.length > 1) spans++;
      }
    }
    // Some turns lived through an update.
    expect(spans).toBeGreaterThan(0);
  });

  test('says in run.json and in every record what its logprobs were found to be of', async () => {
    const store = openFileStore(join(everturn.folder, 'runs'), 'moving');
    const { logprobs } = (await store.getRun())!.record;
    const of = Object.fromEntries(servers.map(({ url }) => [url, 'temperature']));
    expect(logprobs).toEqual({ meaning: 'temperature', servers: of });
    for await (const { turns } of readTrajectories(store))
      for (const { record } of turns)
        expect(record).toMatchObject({ logprobsOf: 'policy', logprobsFound: 'temperature' });
  });

  test('is refused at start where they mean different things by a logprob, unless these are one', async () => {
    const raw = await modelServer({ kind: 'sglang', meaning: 'raw', length: 2048 });
    try {
      const model = `sglang:${servers[0]!.url},${raw.url}`;
      const play = (name: string, ...more: string[]) =>
        everturn.call('run', DATA, '--name', name, '--model', model, ...TOKENIZER, '--limit', '3', ...more);
      const small = ['--num-turns', '1', '--max-new-tokens', '8'];
      const refused = await play('mixed', ...small, '--temperature', '0.7');
      expect(refused.code).toBe(5);
      expect(refused.stderr).toContain(`${servers[0]!.url}: temperature; ${raw.url}: raw`);
      expect(existsSync(join(everturn.folder, 'runs/mixed'))).toBe(false);
      const played = await play('mixed', ...small);
      expect(played.code, played.stderr).toBe(0);
      const { record } = (await openFileStore(join(everturn.folder, 'runs'), 'mixed').getRun())!;
      expect(record.logprobs).toMatchObject({ meaning: 'mixed', servers: { [raw.url]: 'raw' } });
    } finally {
      await raw.close();
    }
  });

  test('shows each server in its status', async () => {
    // Workers report every few seconds.
    const shown = await until('each server has answered', async () => {
      const status = await everturn.mustCall('status', 'moving', '--json');
      const { servers: all } = JSON.parse(status) as { servers: { url: string; requests: number }[] };
      return all.length > 0 && all.every(({ requests }) => requests > 0) ? all : undefined;
    });
    expect(shown.map(({ url }) => url).sort()).toEqual(servers.map(({ url }) => url).sort());
  });

  test('refuses servers whose logprobs are of another distribution than the run wants', async () => {
    const args = ['--model', `sglang:${servers[0]!.url}`, ...TOKENIZER, '--logprobs', 'raw', '--temperature', '0.5'];
    const { code, stderr } = await everturn.call('run', DATA, ...args);
    expect([code, stderr]).toEqual([5, expect.stringContaining('--logprobs')]);
  });
});

describe('everturn with servers', () => {
  test('a limit per server holds over two worker processes', { timeout: 180_000 }, async () => {
    const [narrow, wide] = await Promise.all(
      [1, 2].map(() => modelServer({ kind: 'sglang', msPerToken: 4, length: 2048 })),
    );
    await everturn.mustCall('up');
    const worker = everturn.start('worker');
    try {
      const config = {
        numTurns: 2,
        maxNewTokens: 8,
        maxConcurrent: 16,
        fleet: {
          backend: 'sglang',
          policy: 'round_robin',
          servers: [{ url: narrow!.url, maxInFlight: 1 }, { url: wide!.url }],
          maxInFlight: 3,
        },
      };
      everturn.write('fleet.yaml', JSON.stringify(config));
      await everturn.mustRun('run', DATA, '--name', 'limited', '--config', 'fleet.yaml', ...TOKENIZER);
      expect(narrow!.peak()).toBe(1);
      expect(wide!.peak()).toBeGreaterThan(0);
      expect(wide!.peak()).toBeLessThanOrEqual(3);
    } finally {
      worker.child.kill('SIGTERM'); // in order: it says what it did
      await worker.ended;
      await everturn.mustCall('down');
      await Promise.all([narrow!.close(), wide!.close()]);
    }
    const folder = join(everturn.folder, 'runs/limited/.fleet');
    const reports = readdirSync(folder).filter((name) => name.startsWith('status-'));
    const asked = reports.map((name) => {
      const { servers } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as FleetReport;
      return servers.reduce((sum, { requests }) => sum + requests, 0);
    });
    expect(asked).toHaveLength(2);
    expect(Math.min(...asked)).toBeGreaterThan(0);
  });

  test('why says what a rollout waits for, and why it ended', { timeout: 120_000 }, async () => {
    const server = await modelServer({ kind: 'sglang', length: 2048 });
    const why = async (query: string) => JSON.parse(await everturn.mustCall('why', 'waiting', query, '--json')) as Why;
    try {
      const broken = { status: 500, body: { error: { message: 'out of luck' } } };
      const model = ['--model', `sglang:${server.url}`, ...TOKENIZER, '--limit', '2', '--num-turns', '1'];
      const running = everturn.start('run', DATA, '--name', 'waiting', ...model, '--max-concurrent', '1');
      const made = join(everturn.folder, 'runs/waiting/run.json');
      await until('the run is made', () => existsSync(made) || undefined);
      server.fail(...Array.from({ length: 200 }, () => broken));
      const waits = await until('a second try', async () => {
        const found = await everturn.call('why', 'waiting', 'arith-0001', '--json');
        if (found.code !== 0) return undefined; // the run is being made
        const told = JSON.parse(found.stdout) as Why;
        return told.pending && told.pending.attempt > 1 && told.pending.lastFailure ? told : undefined;
      });
      expect(waits).toMatchObject({
        state: 'playing',
        pending: { name: 'generate', turn: 1, lastFailure: { reason: expect.stringMatching(/^server-/) } },
      });
      expect(await everturn.mustCall('why', 'waiting', 'arith-0001')).toMatch(
        /^arith-0001 waits for the model.*: turn 1.*attempt[^]*last failure: server-/,
      );
      expect(await why('arith-0002')).toMatchObject({
        state: 'waiting',
        collection: { inFlight: 1, maxConcurrent: 1 },
      });
      server.heal();
      const ended = await running.ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(await why('arith-0001')).toMatchObject({ state: 'ended', pending: null, turns: [{ turn: 1 }] });
    } finally {
      await server.close();
    }
  });

  test('answers that came as text are judged, and never exported for training', { timeout: 120_000 }, async () => {
    const server = await modelServer({ kind: 'openai' });
    try {
      const shape = ['--limit', '5', '--num-turns', '2', '--max-new-tokens', '20'];
      await everturn.mustCall('run', DATA, '--name', 'text', '--model', `openai:${server.url}#tiny`, ...shape);
      await everturn.mustCall('check', 'text');
      const exported = await everturn.call('export', 'text', '--format', 'areal', '--to', 'text.jsonl');
      expect(exported.stderr).toContain('not-trainable');
      expect(exported.code).toBe(8);
      expect(existsSync(join(everturn.folder, 'text.jsonl'))).toBe(false);
    } finally {
      await server.close();
    }
  });
});
