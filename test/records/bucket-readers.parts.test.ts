// A run in a bucket is the same run to every reader: what was put there record by record, what was copied there file by
// file, ended, and with harm done to it.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { areal } from '../../formats/exports/areal.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';
import { parquetTurns } from '../../formats/exports/parquet.ts';
import { checkRun } from '../../records/check/check.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { writeFleetReport, readFleet } from '../../records/run/fleet-status.ts';
import { searchRun } from '../../records/reading/search.ts';
import { putAct, readActs } from '../../records/run/steering.ts';
import type { Breach, Store } from '../../records/store.ts';
import { readSummaries } from '../../records/reading/trajectories.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { all } from '../contract/store.ts';
import { playGoodRun } from './check/good-run.ts';
import { bucketEnvironment, openS3Server, type S3Server, useBuckets } from '../support/s3-server.ts';
import { again, bytesIn, endAll, seenIn } from './ended-rig.ts';
import { RUN } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();
const OUT = 's3://bucket/a/runs';
/** Every so many-th file is harmed. */
const EACH = process.env['EVERTURN_TESTS'] === 'all' ? 5 : 17;
let server: S3Server;
let files: Record<string, string>;
let restore: () => void;
beforeAll(async () => {
  server = await openS3Server({ pageKeys: 7 });
  restore = useBuckets(bucketEnvironment(server.url));
  await playGoodRun(join(root, 'good'));
  files = bytesIn(join(root, 'good', RUN));
});
afterAll(async () => {
  restore();
  await server.close();
});

/** As `aws s3 cp --recursive` does it. */
beforeEach(() => {
  server.objects.clear();
  const modified = new Date(Date.now() - 3_600_000);
  for (const [path, text] of Object.entries(files))
    server.objects.set(`a/runs/${RUN}/${path}`, { body: Buffer.from(text, 'latin1'), modified });
});

async function breachesOf(store: Store): Promise<Breach[]> {
  const breaches: Breach[] = [];
  await checkRun(store, (breach) => breaches.push(breach));
  return breaches;
}

async function summariesOf(store: Store) {
  return Promise.all((['ends', 'turns', 'logprobs'] as const).map((detail) => all(readSummaries(store, { detail }))));
}

async function exported(store: Store, exporter: Exporter = areal): Promise<string> {
  const chunks: string[] = [];
  const { Writable } = await import('node:stream');
  const into = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString('latin1'));
      done();
    },
  });
  await exportRun(store, exporter, into);
  return chunks.join('');
}

describe('a run in a bucket', () => {
  test('is read as the same run in a folder: records, hashes, logs, listings, summaries, hits, exports', async () => {
    const [there, here] = [again(OUT), again(join(root, 'good'))];
    expect(await seenIn(there)).toEqual(await seenIn(here));
    expect(await summariesOf(there)).toEqual(await summariesOf(here));
    expect(await all(searchRun(there, 'What'))).toEqual(await all(searchRun(here, 'What')));
    expect(await exported(there)).toBe(await exported(here));
    expect((await exported(there)).length).toBeGreaterThan(100);
    expect(await exported(there, parquetTurns)).toBe(await exported(here, parquetTurns));
    expect(await breachesOf(there)).toEqual([]);
  });

  test('that was written there is without a flaw, and nothing else is there', async () => {
    server.objects.clear();
    const store = await playGoodRun(OUT);
    expect(await breachesOf(store)).toEqual([]);
    const names = [...server.objects.keys()].map((key) => key.slice(`a/runs/${RUN}/`.length)).sort();
    expect(names).toEqual(Object.keys(files).sort());
  });

  test('is written and read while answers are cut and refused', async () => {
    server.objects.clear();
    let calls = 0;
    server.fault = () => (++calls % 11 === 0 ? 'cut' : calls % 13 === 0 ? [503, 'SlowDown'] : undefined);
    try {
      const store = await playGoodRun(OUT);
      expect(await breachesOf(store)).toEqual([]);
    } finally {
      server.fault = () => undefined;
    }
    expect(server.objects.size).toBe(Object.keys(files).length);
  });

  test('ended is the same run, an object for each rollout', async () => {
    const seen = await seenIn(again(OUT));
    await endAll(OUT);
    const keys = [...server.objects.keys()];
    expect(keys.filter((key) => key.includes('/ended/'))).toHaveLength(9);
    expect(keys.filter((key) => key.includes('/rollouts/'))).toEqual([]);
    expect(await seenIn(again(OUT))).toEqual(seen);
    expect(await breachesOf(again(OUT))).toEqual([]);
  });

  test('with harm done to an object has the breaches that the same file in a folder has', async () => {
    const out = mkdtempSync(join(root, 'harmed-'));
    cpSync(join(root, 'good'), out, { recursive: true });
    const names = Object.keys(files).filter((name) => name !== 'queries.index');
    const harms = [
      () => undefined,
      (text: string) => text.slice(0, -9),
      (text: string) => text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
    ];
    let breaches = 0;
    for (const [i, name] of names.entries()) {
      if (i % EACH > 0) continue;
      const text = Buffer.from(files[name]!, 'latin1').toString();
      const harmed = harms[(i / EACH) % 3]!(text);
      const [key, path] = [`a/runs/${RUN}/${name}`, join(out, RUN, name)];
      const kept = server.objects.get(key)!;
      if (harmed === undefined) {
        server.objects.delete(key);
        rmSync(path);
      } else {
        server.objects.set(key, { ...kept, body: Buffer.from(harmed) });
        writeFileSync(path, harmed);
      }
      const [inBucket, onDisk] = await Promise.all([again(OUT), again(out)].map(breachesOf));
      const plain = (found: readonly Breach[]) =>
        found.map(({ path: at, problem }) => `${at} ${problem.replaceAll(`${out}/`, `${OUT}/`)}`).sort();
      expect(plain(inBucket!), name).toEqual(plain(onDisk!));
      breaches += inBucket!.length;
      server.objects.set(key, kept);
      writeFileSync(path, text);
    }
    expect(breaches).toBeGreaterThan(3);
  });

  test('with a foreign object has a breach, wherever it is', async () => {
    for (const name of [
      'rollouts/x',
      'rollouts/zz/a/0.1/turn-001.json',
      'rollouts/1f/a',
      'answers/0/x.txt',
      'ended/x',
    ]) {
      server.objects.set(`a/runs/${RUN}/${name}`, { body: Buffer.from('x'), modified: new Date() });
      expect(await breachesOf(again(OUT)), name).toHaveLength(1);
      server.objects.delete(`a/runs/${RUN}/${name}`);
    }
  });

  test('has acts of people, reports of workers and weights as a folder has them', async () => {
    const store = again(OUT);
    const act = { act: 'note', of: { query: 'one', sample: 0, attempt: 1 }, turn: null, text: 'seen', by: 'me', at: 5 };
    expect((await putAct(store, act as never)).created).toBe(true);
    expect((await putAct(store, act as never)).created).toBe(false);
    expect((await readActs(store)).size).toBe(1);
    await writeFleetReport(store.folder, 'worker 1', { at: 7, servers: [] });
    expect(await readFleet(store.folder, 0)).toEqual([]);
    const ledger = openWeightsLedger(store.folder);
    expect(await ledger.current()).toBeNull();
  });
});
