// The store's contract on a real S3 server, a race of writers that are processes of their own, and what a step costs there
// beside a folder.

import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRun } from '../../../records/check/check.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { areal } from '../../../formats/exports/areal.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { dirname } from '../../../records/place.ts';
import type { Breach } from '../../../records/store.ts';
import { storeContract } from '../../contract/store.ts';
import { useBuckets } from '../../support/s3-server.ts';
import { type Gateway, openGateway } from '../../support/versitygw.ts';
import { aQuery, play, putRun, RUN } from '../../records/play.ts';

let folder: string;
let gateway: Gateway;
let restore: () => void;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-gateway-'));
  gateway = await openGateway(join(folder, 'objects'));
  restore = useBuckets(gateway.env);
});
afterAll(async () => {
  restore();
  await gateway.kill();
  rmSync(folder, { recursive: true, force: true });
});

let number = 0;
storeContract('a bucket of versitygw', {
  create: () => openFileStore(`s3://bucket/out-${number++}`, RUN),
  again: (store) => openFileStore(dirname(store.folder), RUN),
  drafts: false,
});

const WRITERS = 8;
const KEYS = 30;

describe('a race of writers', () => {
  test(`of ${WRITERS} processes on ${KEYS} names has one winner for each, whose content all return`, async () => {
    const script = join(import.meta.dirname, 'racer.mjs');
    const racers = Array.from({ length: WRITERS }, (_, i) =>
      racer(script, ['s3://bucket/race', String(i), String(KEYS)]),
    );
    await Promise.all(racers.map(({ ready }) => ready));
    const results = await Promise.all(racers.map(({ go }) => go()));
    for (let key = 0; key < KEYS; key++) {
      const of = results.map((result) => result[key]!);
      expect(of.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(of.map(({ hash }) => hash)).size).toBe(1);
    }
    expect(
      new Set(results.flatMap((result, i) => (result.some(({ created }) => created) ? [i] : []))).size,
    ).toBeGreaterThan(1);
  });
});

interface Raced {
  readonly created: boolean;
  readonly hash: string;
}

/** Ready once it has loaded its code and proved the bucket. */
function racer(script: string, args: readonly string[]) {
  const child = fork(script, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  const failed = new Promise<never>((_, reject) =>
    child.once('exit', (code) => reject(new Error(`ended with ${code}`))),
  );
  const next = () =>
    Promise.race([failed, new Promise<Raced[]>((done) => child.once('message', (it) => done(it as Raced[])))]);
  return {
    ready: next(),
    go: () => {
      const results = next();
      child.send('go');
      return results;
    },
  };
}

describe('a step in a bucket', () => {
  test('is measured: puts, and a check and an export of 100 rollouts, beside a folder', async () => {
    const queries = Array.from({ length: 50 }, (_, i) => aQuery(`q${i}`));
    const measured: Record<string, unknown> = {};
    for (const [name, out] of [
      ['folder', join(folder, 'runs')],
      ['bucket', 's3://bucket/measured'],
    ] as const) {
      const store = openFileStore(out, RUN);
      await putRun(store, queries, { samples: 2 });
      const began = performance.now();
      for (const [index, query] of queries.entries())
        for (const sample of [0, 1]) await play(store, { query, index, sample, verdicts: ['wrong', 'wrong', 'right'] });
      const played = performance.now();
      const breaches: Breach[] = [];
      const { rollouts } = await checkRun(store, (breach) => breaches.push(breach));
      const checked = performance.now();
      await exportRun(store, areal, join(folder, `${name}.jsonl`));
      const exported = performance.now();
      expect(breaches.filter(({ path }) => path !== 'result.json')).toEqual([]);
      expect(rollouts).toBe(100);
      measured[name] = {
        msPerRollout: Math.round((played - began) / 100),
        checkMs: Math.round(checked - played),
        exportMs: Math.round(exported - checked),
      };
    }
    console.log(JSON.stringify(measured));
  });
});
