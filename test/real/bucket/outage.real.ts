// The promise of a bucket as the store: two workers that share no file system and no network play a run on a real S3
// server, each by a gateway of its own before the same objects, while workers and gateways are killed, gateways freeze, a
// worker's network falls silent, and a part of all answers is cut off after the work is done. Each turn is in the bucket
// once, no finished turn was asked for again, and all is equal to the byte to an unbroken run into a folder.

import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../../records/file-store.ts';
import { canonical, checkRun } from '../../chaos/checker.ts';
import { kill } from '../../chaos/nemesis.ts';
import { randomOf, SEED } from '../../chaos/seed.ts';
import { openWorkload, type RunOptions, type Workload } from '../../chaos/workload.ts';
import type { Network } from '../cluster/network.ts';
import { bucketEnvironment } from '../../support/s3-server.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { type Gateway, openGateway } from '../../support/versitygw.ts';
import { type Apart, openNetworks, startApart } from './apart.ts';
import { type CuttingRelay, openCuttingRelay } from './cutting-relay.ts';

const RUN: Omit<RunOptions, 'name'> = {
  rollouts: Number(process.env['EVERTURN_TEST_ROLLOUTS'] ?? 300),
  turns: 3,
  maxConcurrent: 32,
};
const BLOWS = Number(process.env['EVERTURN_TEST_BLOWS'] ?? 30);
const RUNS = 's3://bucket/runs';
/** Part of the answers that a worker does not get. */
const CUT = 0.02;
const SLOTS = 8;
/** A heartbeat may be missing for 10 s. */
const SILENT_MS = 25_000;
const GAP_MS = 2_500;

let folder: string;
let networks: Network[] = [];
let gateways: readonly Gateway[] = [];
/** Of each worker to its gateway. */
let relays: readonly CuttingRelay[] = [];
let toTemporal: CuttingRelay;
let workload: Workload;
let workers: readonly Apart[] = [];
let failed = true;

/** The objects, as the gateways store them: files by their names. */
const objects = () => join(folder, 'objects');
const objectsOfRuns = () => join(objects(), 'bucket/runs');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-bucket-'));
  networks = openNetworks(2);
  gateways = await Promise.all(networks.map(() => openGateway(objects())));
  const dice = randomOf('cuts');
  relays = await Promise.all(
    gateways.map(({ url }, i) => openCuttingRelay(url, () => dice() < CUT, networks[i]!.host)),
  );
  const { host } = networks[0]!;
  Object.assign(process.env, gateways[0]!.env);
  workload = await openWorkload({
    file: import.meta.filename,
    // For the run into a folder, and no other.
    workers: 1,
    slots: 32,
    model: { kind: 'sglang', latencyMs: 2500, host, runs: objectsOfRuns() },
    env: gateways[0]!.env,
  });
  toTemporal = await openCuttingRelay(`http://${workload.temporal.address}`, () => false, host);
});
afterAll(async () => {
  await Promise.all(workers.map(({ worker }) => worker.stop()));
  await workload?.close(failed);
  await Promise.all([...relays, toTemporal].map((relay) => relay?.close()));
  await Promise.all(gateways.map((gateway) => gateway.kill()));
  for (const network of networks) network.close();
  if (!failed) rmSync(folder, { recursive: true, force: true });
});

const startWorkers = (): Apart[] =>
  networks.map((network, i) =>
    startApart({
      name: `worker ${i + 1}`,
      network,
      empty: [folder, workload.folder, workload.everturn.folder, '/dev/shm'],
      env: { TEMPORAL_ADDRESS: new URL(toTemporal.url).host, ...bucketEnvironment(relays[i]!.url) },
      args: ['--slots', String(SLOTS), '--runs-under', RUNS, '--models', TINY_FOLDER],
      log: join(folder, `apart-${i + 1}.log`),
    }),
  );

async function untilEnded(run: string, withinMs: number): Promise<number> {
  const began = Date.now();
  for (;;) {
    const result = await openFileStore(RUNS, run)
      .get('result')
      .catch(() => undefined);
    if (result) return Date.now() - began;
    if (Date.now() - began > withinMs) throw new Error(`run "${run}" has not ended`);
    await sleep(200);
  }
}

/** Until so many blows have hit, drawn from a deck so that no kind is left out; resolves to how many each kind had. */
async function torment(over: () => boolean): Promise<Record<string, number>> {
  const random = randomOf('nemesis');
  const oneOf = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!;
  let silence: Promise<void> | undefined;
  const blows: Readonly<Record<string, () => Promise<boolean>>> = {
    async worker() {
      const pid = oneOf(workers).worker.pid();
      return pid !== undefined && (await kill(pid));
    },
    async gatewayKilled() {
      const gateway = oneOf(gateways);
      await gateway.kill();
      await sleep(2_500 * random());
      await gateway.start();
      return true;
    },
    async gatewayFrozen() {
      const pid = oneOf(gateways).pid()!;
      process.kill(pid, 'SIGSTOP');
      // Now and then longer than the time limit of a request.
      await sleep(12_000 * random());
      process.kill(pid, 'SIGCONT');
      return true;
    },
    async networkSilent() {
      if (silence) return false;
      const { network } = oneOf(workers);
      network.cut();
      silence = sleep(SILENT_MS).then(() => {
        network.mend();
        silence = undefined;
      });
      return true;
    },
  };
  const deck = Array.from({ length: BLOWS }, (_, i) =>
    i % 10 === 9 ? 'networkSilent' : ['worker', 'gatewayKilled', 'gatewayFrozen'][i % 3]!,
  );
  const tally: Record<string, number> = {};
  while (!over() && deck.length > 0) {
    await sleep(GAP_MS * (0.5 + random()));
    if (over()) break;
    const at = Math.floor(random() * deck.length);
    const name = deck[at]!;
    if (!(await blows[name]!())) continue;
    deck.splice(at, 1);
    tally[name] = (tally[name] ?? 0) + 1;
  }
  await silence;
  return tally;
}

/** Lines of an export, without what a clock says. */
async function exported(run: string): Promise<string[]> {
  const file = join(folder, `${run.replace(/\W/g, '-')}.jsonl`);
  const { code, stderr } = await workload.everturn.run('export', run, '--format', 'areal', '--to', file);
  expect(stderr).toContain('exported');
  expect(code).toBe(0);
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const sample = JSON.parse(line) as { data?: Record<string, unknown> };
    delete sample.data?.['birth_time'];
    return JSON.stringify(sample);
  });
}

/** Seen from a worker: namespaces of its own, an empty home, and nothing of what the others write. */
function expectNothingShared({ worker }: Apart): void {
  const of = `/proc/${worker.pid()}`;
  for (const kind of ['mnt', 'net'])
    expect(readlinkSync(`${of}/ns/${kind}`)).not.toBe(readlinkSync(`/proc/self/ns/${kind}`));
  expect(existsSync(`${of}/root${folder}`)).toBe(true);
  for (const written of [objects(), workload.out, workload.marks]) {
    expect(existsSync(written)).toBe(true);
    expect(existsSync(`${of}/root${written}`)).toBe(false);
  }
}

describe(`${RUN.rollouts} rollouts × ${RUN.turns} turns in a bucket`, () => {
  test(
    `survive ${BLOWS} blows on two workers without a common folder, on gateways and on networks: each turn once, as undisturbed`,
    { timeout: 3_600_000 },
    async () => {
      await workload.start({ ...RUN, name: 'calm' });
      const calmMs = await workload.untilEnded('calm', 900_000);
      const calm = await checkRun(workload, { ...RUN, name: 'calm' });
      expect(calm.problems).toEqual([]);
      await workload.workers[0]!.stop();
      workers = startWorkers();
      await Promise.all(workers.map(({ worker }) => worker.ready()));
      for (const apart of workers) expectNothingShared(apart);

      let over = false;
      await workload.start({ ...RUN, name: 'storm', flags: ['--out', RUNS] });
      const ended = untilEnded('storm', 1_800_000).finally(() => (over = true));
      const nemesis = torment(() => over);
      const stormMs = await ended;
      const blows = await nemesis;

      const place = { ...workload, out: objectsOfRuns() };
      const storm = await checkRun(place, { ...RUN, name: 'storm', place: `${RUNS}/storm` });
      const { turns, asked, duplicates, askedAgain } = storm;
      const cuts = relays.map((relay) => relay.cuts());
      const lives = workers.map(({ worker }) => worker.lives());
      console.log(
        JSON.stringify({ seed: SEED, calmMs, stormMs, blows, cuts, lives, turns, asked, duplicates, askedAgain }),
      );
      expect(storm.problems).toEqual([]);
      expect(turns).toBe(RUN.rollouts * RUN.turns);
      expect(askedAgain).toBe(0);
      expect(Object.values(blows).reduce((sum, n) => sum + n, 0)).toBe(BLOWS);
      for (const count of cuts) expect(count).toBeGreaterThan(0);
      expect(workers.flatMap(({ worker }) => worker.crashes)).toEqual([]);
      expect(canonical(storm.rollouts)).toBe(canonical(calm.rollouts));
      expect(await exported(`${RUNS}/storm`)).toEqual(await exported('calm'));
      for (const i of workers.keys())
        expect(readFileSync(join(folder, `apart-${i + 1}.log`), 'utf8')).not.toContain('testsecret');
      failed = false;
    },
  );
});
