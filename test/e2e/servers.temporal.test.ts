// A run against inference servers that speak SGLang's protocol, through the built command line. (They are scripted; `npm run
// test:servers` plays against real ones. Weights that change under a run: weights.temporal.test.ts.)

import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NeutralRow } from '../../domain/samples/neutral-row.ts';
import type { Why } from '../../library/why.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { sizeOfExperts } from '../../records/run/experts.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';
import { type ModelServer, modelServer } from '../support/model-server.ts';
import { expertsOf, ROUTED_CONFIG, ROUTING } from '../support/toy-experts.ts';

const ROOT = join(import.meta.dirname, '../..');
const DATA = join(ROOT, 'examples/arithmetic.jsonl');
const TOKENIZER = ['--tokenizer', join(ROOT, 'models/tiny')];
const SHAPE = ['--num-turns', '3', '--limit', '12', '--max-new-tokens', '48'];

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
  beforeAll(async () => {
    const model = `sglang:${servers.map((s) => s.url).join(',')}`;
    await everturn.mustRun('run', DATA, '--name', 'two', '--model', model, ...TOKENIZER, ...SHAPE);
    await everturn.mustCall('check', 'two');
  }, 300_000);

  test('says in run.json and in every record what its logprobs were found to be of', async () => {
    const store = openFileStore(join(everturn.folder, 'runs'), 'two');
    const { logprobs } = (await store.get('run'))!.record;
    const of = Object.fromEntries(servers.map(({ url }) => [url, 'temperature']));
    expect(logprobs).toEqual({ meaning: 'temperature', servers: of });
    for await (const { turns } of readTrajectories(store))
      for (const { record } of turns)
        expect(record).toMatchObject({ logprobsOf: 'policy', logprobsFound: 'temperature' });
  });

  test('shows each server in its status', async () => {
    // Workers report every few seconds.
    const shown = await until('each server has answered', async () => {
      const status = await everturn.mustCall('status', 'two', '--json');
      const { servers: all } = JSON.parse(status) as { servers: { url: string; requests: number }[] };
      return all.length > 0 && all.every(({ requests }) => requests > 0) ? all : undefined;
    });
    expect(shown.map(({ url }) => url).sort()).toEqual(servers.map(({ url }) => url).sort());
  });

  test('with truncated sampling has logprobs over the sets that the servers drew from, in its records and rows', async () => {
    const cut = [
      '--model',
      `sglang:${servers[0]!.url}`,
      ...TOKENIZER,
      '--top-p',
      '0.05',
      '--new-tokens-per-chunk',
      '8',
    ];
    await everturn.mustRun('run', DATA, '--name', 'cut', ...cut, ...SHAPE);
    await everturn.mustCall('check', 'cut');
    const drawn = servers[0]!.engine.log.flatMap(({ outputs }) => outputs.map(({ keptLogprob }) => keptLogprob));
    const store = openFileStore(join(everturn.folder, 'runs'), 'cut');
    for await (const { turns } of readTrajectories(store)) {
      for (const { record } of turns) {
        expect(record).toMatchObject({ logprobsOf: 'policy', logprobsFound: 'policy', kept: expect.any(String) });
        expect(drawn).toEqual(expect.arrayContaining(record.logprobs as number[]));
      }
    }
    const file = join(everturn.folder, 'rows.jsonl');
    await everturn.mustCall('export', 'cut', '--format', 'rows', '--to', file);
    const rows = readFileSync(file, 'utf8').trim().split('\n');
    expect(rows).toHaveLength(12);
    for (const line of rows) {
      const { response_ids: ids, response_mask: mask, kept_ids: kept } = JSON.parse(line) as Record<string, number[][]>;
      ids!.forEach((id, i) => expect(kept![i] === null || kept![i]!.includes(id as never)).toBe(true));
      expect(kept!.map((set) => (set === null ? 0 : 1))).toEqual(mask);
    }
  }, 300_000);

  test('whose model is a mixture of experts warns its trainer as it begins, and in its status', async () => {
    const folder = join(everturn.folder, 'experts');
    cpSync(join(ROOT, 'models/tiny'), folder, { recursive: true, filter: (path) => !/onnx|safetensors/.test(path) });
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, num_local_experts: 4 }));
    const model = ['--model', `sglang:${servers[0]!.url}`, '--tokenizer', folder, ...SHAPE];
    const began = await everturn.mustRun('run', DATA, '--name', 'experts', ...model, '--train', '--detach');
    expect(began.stdout + began.stderr).toContain('a mixture of experts, whose routing is not recorded');
    expect(await everturn.mustCall('status', 'experts')).toContain(
      'a mixture of experts, whose routing is not recorded',
    );
    await everturn.mustCall('cancel', 'experts');
    const store = openFileStore(join(everturn.folder, 'runs'), 'experts');
    expect((await store.get('run'))!.record.model).toMatchObject({ hasExperts: true });
  }, 300_000);

  test('of a mixture of experts names the experts of every token, through a kill of its worker, and so do its rows', async () => {
    const folder = join(everturn.folder, 'routed');
    cpSync(join(ROOT, 'models/tiny'), folder, { recursive: true, filter: (path) => !/onnx|safetensors/.test(path) });
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...ROUTED_CONFIG }));
    const server = await modelServer({ kind: 'sglang', msPerToken: 4, length: 2048, experts: true });
    try {
      const model = ['--model', `sglang:${server.url}`, '--tokenizer', folder, ...SHAPE, '--new-tokens-per-chunk', '8'];
      const began = await everturn.mustRun('run', DATA, '--name', 'routed', ...model, '--detach');
      expect(began.stdout + began.stderr).not.toContain('routing is not recorded');
      const runs = join(everturn.folder, 'runs');
      const store = openFileStore(runs, 'routed');
      await until('some experts', async () => ((await sizeOfExperts(store.folder)).files > 20 ? true : undefined));
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      await everturn.mustRun('status', 'routed', '--follow');
      expect(await everturn.mustCall('check', 'routed')).toContain('all is right');
      expect(await everturn.mustCall('status', 'routed')).toMatch(/Experts +\d+\.\d kB in \d+ files/);
      const file = join(everturn.folder, 'routed.jsonl');
      await everturn.mustCall('export', 'routed', '--format', 'rows', '--to', file);
      for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
        const row = JSON.parse(line) as NeutralRow;
        const parts = row.experts!.map(({ path, rows }) =>
          gunzipSync(readFileSync(join(store.folder, path))).subarray(0, rows * ROUTING * 4),
        );
        const fed = [...row.prompt_ids, ...row.response_ids].slice(0, -1);
        expect(Buffer.concat(parts)).toEqual(expertsOf(fed, 'int32'));
      }
    } finally {
      await server.close();
    }
  }, 300_000);

  test('refuses servers whose logprobs are of another distribution than the run wants', async () => {
    const args = ['--model', `sglang:${servers[0]!.url}`, ...TOKENIZER, '--logprobs', 'raw', '--temperature', '0.5'];
    const { code, stderr } = await everturn.call('run', DATA, ...args);
    expect([code, stderr]).toEqual([5, expect.stringContaining('--logprobs')]);
  });
});

describe('everturn with servers', () => {
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
});
