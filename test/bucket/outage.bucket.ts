// The promise of a bucket as the store: two workers that share no folder play a run on a real S3 server, each by a gateway
// of its own, while workers are killed, the gateways are killed and frozen, and a part of all answers is cut off after the
// work is done; and each turn is in the bucket once. What was played is what the same seed plays into a folder.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../storage/files.ts';
import { type CuttingRelay, openCuttingRelay } from './cutting-relay.ts';
import { type Kept, keepNode } from '../chaos/kept.ts';
import { randomOf, SEED } from '../chaos/seed.ts';
import { openWorkload, type RunOptions, type Workload } from '../chaos/workload.ts';
import { bucketEnvironment } from '../support/s3-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { type Gateway, openGateway } from '../support/versitygw.ts';

const BIN = join(import.meta.dirname, '../../dist/cli/index.js');
const RUN: Omit<RunOptions, 'name'> = {
  rollouts: Number(process.env['EVERTURN_TEST_ROLLOUTS'] ?? 200),
  turns: 3,
  maxConcurrent: 48,
};
const RUNS = 's3://bucket/runs';
/** Part of the answers that a worker does not get. */
const CUT = 0.02;
const MOST_BLOWS = Number(process.env['EVERTURN_TEST_BLOWS'] ?? 30);

let folder: string;
let gateways: readonly [Gateway, Gateway];
let relays: CuttingRelay[];
let workload: Workload;
let workers: Kept[];
let failed = true;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-bucket-'));
  const objects = join(folder, 'objects');
  gateways = [await openGateway(objects), await openGateway(objects)];
  const [gateway] = gateways;
  const dice = randomOf('cuts');
  relays = await Promise.all(gateways.map(({ url }) => openCuttingRelay(url, () => dice() < CUT)));
  Object.assign(process.env, gateway.env);
  workload = await openWorkload({
    file: import.meta.filename,
    workers: 0,
    slots: 16,
    model: { kind: 'sglang', latencyMs: 600 },
    env: gateway.env,
  });
  workers = ['one', 'two'].map((name, i) => {
    const home = join(folder, name);
    mkdirSync(home);
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      TMPDIR: home,
      TEMPORAL_ADDRESS: workload.temporal.address,
      ...bucketEnvironment(relays[i]!.url),
    };
    const args = ['worker', '--slots', '16', '--runs-under', `${RUNS},${workload.out}`, '--models', TINY_FOLDER];
    return keepNode(`worker ${name}`, () => [BIN, ...args], env, join(folder, `${name}.log`), { cwd: home });
  });
  await Promise.all(workers.map((worker) => worker.ready()));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await workload.close(failed);
  await Promise.all([...relays.map((relay) => relay.close()), ...gateways.map((gateway) => gateway.kill())]);
  if (!failed) rmSync(folder, { recursive: true, force: true });
});

async function untilEnded(run: string, withinMs: number): Promise<number> {
  const began = Date.now();
  for (;;) {
    const result = await openFileStore(RUNS, run)
      .getResult()
      .catch(() => undefined);
    if (result) return Date.now() - began;
    if (Date.now() - began > withinMs) throw new Error(`run "${run}" has not ended`);
    await sleep(200);
  }
}

interface Blows {
  workers: number;
  kills: number;
  freezes: number;
}

/** Until each has been done so often; a worker has time to work between its start and its end. */
async function torment(over: () => boolean): Promise<Blows> {
  const random = randomOf('nemesis');
  const blows: Blows = { workers: 0, kills: 0, freezes: 0 };
  while (!over() && blows.workers + blows.kills + blows.freezes < MOST_BLOWS) {
    await sleep(2_000 + 2_000 * random());
    if (over()) break;
    const gateway = gateways[Math.floor(random() * 2)]!;
    const dice = random();
    if (dice < 0.34) {
      const worker = workers[Math.floor(random() * 2)]!;
      await worker.ready();
      const pid = worker.pid();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      blows.workers++;
      await Promise.all(workers.map((one) => one.ready()));
    } else if (dice < 0.7) {
      await gateway.kill();
      await sleep(2_500 * random());
      await gateway.start();
      blows.kills++;
    } else {
      process.kill(gateway.pid()!, 'SIGSTOP');
      // Longer than the time limit of a request, now and then.
      await sleep(12_000 * random());
      process.kill(gateway.pid()!, 'SIGCONT');
      blows.freezes++;
    }
  }
  return blows;
}

/** Samples by their id, without what a clock says. */
async function exported(run: string): Promise<string[]> {
  const file = join(folder, `${run.replace(/\W/g, '-')}.jsonl`);
  const { code, stderr } = await workload.everturn.run('export', run, '--format', 'areal', '--out', file);
  expect(stderr).toContain('exported');
  expect(code).toBe(0);
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const sample = JSON.parse(line) as { data?: Record<string, unknown> };
      delete sample.data?.['birth_time'];
      return JSON.stringify(sample);
    });
}

describe(`${RUN.rollouts} rollouts × ${RUN.turns} turns in a bucket`, () => {
  test('survive kills of workers and of the server, and its silence: each turn once, equal to a run in a folder', async () => {
    await workload.start({ ...RUN, name: 'calm' });
    const calmMs = await workload.untilEnded('calm', 600_000);

    let over = false;
    await workload.start({ ...RUN, name: 'storm', flags: ['--out', RUNS] });
    const ended = untilEnded('storm', 900_000).finally(() => (over = true));
    const nemesis = torment(() => over);
    const stormMs = await ended;
    const blows = await nemesis;

    const began = Date.now();
    const check = await workload.everturn.run('check', `${RUNS}/storm`);
    console.log(
      JSON.stringify({
        ...{ seed: SEED, calmMs, stormMs, blows, checkMs: Date.now() - began },
        cuts: relays.map((relay) => relay.cuts()),
      }),
    );
    console.log(check.stdout + check.stderr);
    expect(check.code).toBe(0);
    for (const relay of relays) expect(relay.cuts()).toBeGreaterThan(0);
    expect(check.stdout).toContain(
      `${RUN.rollouts} rollouts (${RUN.rollouts} ended), ${RUN.rollouts * RUN.turns} turns: all is right`,
    );
    expect(await exported(`${RUNS}/storm`)).toEqual(await exported('calm'));
    expect(workers.flatMap(({ crashes }) => crashes)).toEqual([]);
    for (const name of ['one', 'two'])
      expect(readFileSync(join(folder, `${name}.log`), 'utf8')).not.toContain('testsecret');
    failed = false;
  });
});
