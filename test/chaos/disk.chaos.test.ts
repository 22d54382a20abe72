// The promise: a disk that is full, read-only, broken, slow or out of files stops nothing for good. The run waits and
// says for what, no half record is seen, no model is asked again for an answer that could not be kept, and all goes on
// by itself when the disk does. Faults are injected below the store, and once made by a real file system of 20 MB.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { awaitedOf } from '../../library/trouble.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { faultyFiles } from './faulty-files.ts';
import { prove, sessionOf, startRun, sums } from './rig-run.ts';
import { commandOf, randomOf } from './seed.ts';
import { FULL, sized } from './size.ts';

let rig: Rig;
afterEach(() => rig?.close());

const WRITES = ['open', 'write', 'sync', 'link', 'rename', 'mkdir'] as const;
const FAULTS = [
  { name: 'full', code: 'ENOSPC', on: ['open', 'write', 'mkdir'], part: 1, says: /the disk is full/ },
  { name: 'read-only', code: 'EROFS', on: WRITES, part: 1, says: /read-only/ },
  { name: 'forbidden', code: 'EACCES', on: WRITES, part: 1, says: /permission denied/ },
  { name: 'broken now and then', code: 'EIO', on: WRITES, part: 0.3, says: null },
] as const;

const QUERIES = sized(200);
const TURNS = 3;
const AWAY_MS = FULL ? 30_000 : 2000;
const FULL_ALONE = 'it has one size, the full one: npm run test:chaos';

async function openDiskRig(files: ReturnType<typeof faultyFiles>, delayMs: number): Promise<void> {
  rig = await openRig(
    { delayMs, answer: ({ requestId }) => `\\boxed{${requestId.endsWith('1') ? 1 : 2}}` },
    { openStore: (out, run) => openFileStore(out, run, { layer: files.layer }) },
  );
  await rig.startWorker({ slots: 512 });
}

/** Every turn once, and, while nobody was killed, asked for once. */
async function expectWhole(run: string, result: CollectionResult, queries: number): Promise<void> {
  const { breaches, summary } = await prove(rig, run);
  expect(breaches).toEqual([]);
  expect(result.counts.reasons).toEqual({});
  expect(result.counts.outcomes.complete).toBe(queries);
  expect(summary.turns).toBe(queries * TURNS);
  expect(rig.backend.requests).toHaveLength(queries * TURNS);
}

const small = tmpfs('20m');
afterAll(() => {
  if (typeof small !== 'string') return;
  execFileSync('umount', ['--lazy', small]);
  rmSync(small, { recursive: true, force: true });
});

describe('a run on a failing disk', () => {
  for (const { name, code, on, part, says } of FULL ? FAULTS : [FAULTS[0], FAULTS[3]]) {
    test(`waits while the disk is ${name}, says so, and goes on by itself`, { timeout: 600_000 }, async () => {
      console.log(`Repeat: ${commandOf(import.meta.filename)}`);
      const files = faultyFiles(randomOf(name));
      await openDiskRig(files, 300);
      const handle = await startRun(rig, {
        run: 'disk',
        rows: sums(QUERIES),
        maxConcurrent: 50,
        settings: { numTurns: TURNS },
      });
      const ended = handle.result() as Promise<CollectionResult>;
      await untilAsked(QUERIES / 2);
      Object.assign(files, { fault: { code, on }, part });
      const brokenAt = Date.now();
      let said: string | undefined;
      // What passes by itself now and then need not be told.
      while (Date.now() - brokenAt < AWAY_MS || (says && said === undefined)) {
        said ??= await awaitedOf(sessionOf(rig), 'disk', null);
        if (Date.now() - brokenAt > 60_000) throw new Error('nothing was said in a minute');
        await sleep(200);
      }
      files.fault = null;
      const mendedAt = Date.now();
      const result = await ended;
      console.log(JSON.stringify({ code, hits: files.told.hits, said, secondsAfter: (Date.now() - mendedAt) / 1000 }));
      expect(files.told.hits).toBeGreaterThan(0);
      if (says) expect(said).toMatch(/^Waiting for the disk: /);
      if (says) expect(said).toMatch(says);
      await expectWhole('disk', result, QUERIES);
    });
  }

  test('is slow and whole where fsync takes seconds', { timeout: 900_000 }, async ({ skip }) => {
    skip(!FULL, FULL_ALONE);
    const files = faultyFiles(randomOf('slow'));
    const queries = sized(40);
    files.syncMs = 5000;
    await openDiskRig(files, 10);
    const run = { run: 'slow', rows: sums(queries), maxConcurrent: queries, settings: { numTurns: TURNS } };
    const begun = Date.now();
    const result = (await (await startRun(rig, run)).result()) as CollectionResult;
    console.log(JSON.stringify({ syncMs: files.syncMs, queries, seconds: (Date.now() - begun) / 1000 }));
    await expectWhole('slow', result, queries);
  });

  test('has never more than a hundred files open with 512 rollouts at once', { timeout: 600_000 }, async ({ skip }) => {
    skip(!FULL, FULL_ALONE);
    const files = faultyFiles(randomOf('files'), 100);
    const queries = 512;
    await openDiskRig(files, 50);
    const run = { run: 'files', rows: sums(queries), maxConcurrent: queries, settings: { numTurns: TURNS } };
    const result = (await (await startRun(rig, run)).result()) as CollectionResult;
    console.log(JSON.stringify({ inFlight: queries, mostOpen: files.told.mostOpen }));
    expect(files.told.mostOpen).toBeLessThanOrEqual(100);
    await expectWhole('files', result, queries);
  });
  test('waits while a file system of 20 MB is full, and goes on', { timeout: 600_000 }, async ({ skip }) => {
    skip(typeof small !== 'string', typeof small === 'string' ? '' : small.reason);
    const out = small as string;
    rig = await openRig({ delayMs: 200, answer: () => `${'It is so. '.repeat(300)}\\boxed{1}` }, {}, undefined, out);
    await rig.startWorker({ slots: 100 });
    const filler = join(out, 'filler');
    const run = { run: 'full', rows: sums(20), maxConcurrent: 20, settings: { numTurns: TURNS } };
    const handle = await startRun(rig, run);
    const ended = handle.result() as Promise<CollectionResult>;
    await untilAsked(10);
    fill(filler);
    let said: string | undefined;
    for (const end = Date.now() + 60_000; said === undefined && Date.now() < end; await sleep(200)) {
      said = await awaitedOf(sessionOf(rig), 'full', join(out, 'full'));
    }
    await sleep(AWAY_MS);
    rmSync(filler);
    const result = await ended;
    console.log(JSON.stringify({ said }));
    expect(said).toMatch(/the disk is full/);
    await expectWhole('full', result, 20);
  });
});

async function untilAsked(generations: number): Promise<void> {
  while (rig.backend.requests.length < generations) await sleep(20);
}

/** Takes all the space that is left. */
function fill(path: string): void {
  const blocks: string[] = [];
  for (let bytes = 4096; ;) {
    try {
      writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' });
    } catch (error) {
      blocks.push(String(error));
      if (bytes === 1) return;
      bytes = 1;
    }
  }
}

/** The path of a fresh file system in memory, or why there can be none. */
function tmpfs(size: string): string | { readonly reason: string } {
  const path = mkdtempSync(join(tmpdir(), 'everturn-disk-'));
  try {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'everturn-test', path], { stdio: 'pipe' });
    return path;
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    const reason = `no file system can be mounted here: ${
      String((error as Error).message)
        .split('\n')
        .at(-2) ?? ''
    }`;
    console.warn(reason);
    return { reason };
  }
}
