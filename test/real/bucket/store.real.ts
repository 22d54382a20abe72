// The store's contract on a real S3 server, and a race of writers that are processes of their own.

import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../../records/file-store.ts';
import { dirname } from '../../../records/place.ts';
import { storeContract } from '../../contract/store.ts';
import { useBuckets } from '../../support/s3-server.ts';
import { type Gateway, openGateway } from '../../support/versitygw.ts';
import { RUN } from '../../records/play.ts';

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
