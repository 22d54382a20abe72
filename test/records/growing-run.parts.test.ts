// A sound run is sound to every reader while workers write it, on a disk and in a bucket. LOOKS=10000 takes as many looks
// by each reader; else a few.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as breath } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSegments } from '../../records/ended/segments.ts';
import { bucketEnvironment, openS3Server, type S3Server, useBuckets } from '../support/s3-server.ts';
import { deedsIn, look, openWriters, type Reader, READERS, VIEWERS } from './growing-run.ts';
import { RUN } from './play.ts';

const LOOKS = Number(process.env['LOOKS'] ?? 8);
const HOURS = 4 * 3_600_000;
const root = mkdtempSync(join(tmpdir(), 'everturn-growing-'));
let server: S3Server;
let restore: () => void;
beforeAll(async () => {
  server = await openS3Server({ pageKeys: 7 });
  restore = useBuckets(bucketEnvironment(server.url));
});
afterAll(async () => {
  restore();
  await server.close();
  rmSync(root, { recursive: true });
});

/** Looks until there were enough of them that began while a run grew. */
async function looksAt(place: () => string, queries: number, pauseMs: number, reader: Reader): Promise<void> {
  const deeds = await deedsIn(mkdtempSync(join(root, 'played-')), queries);
  const writers = openWriters();
  for (let looks = 0; looks < LOOKS;) {
    const out = place();
    const run = await writers.write(out, deeds, pauseMs);
    const read = reader(run);
    while (run.begun() === 0) await breath();
    for (; run.grows() && looks < LOOKS; looks++) await look(run, read);
    await run.over;
    // The last one sees all of it.
    await look(run, read);
    server.calls.length = 0;
    server.objects.clear();
    if (out.startsWith(root)) rmSync(out, { recursive: true });
  }
  await writers.close();
}

describe('a run that grows is sound to every reader', () => {
  test.each(Object.entries({ ...READERS, ...VIEWERS }))(
    'on a disk: %s',
    (_name, reader) => looksAt(() => mkdtempSync(join(root, 'run-')), 16, 10, reader),
    HOURS,
  );

  let places = 0;
  test.each(Object.entries(READERS))(
    'in a bucket: %s',
    (_name, reader) => looksAt(() => `s3://bucket/run-${places++}`, 2, 30, reader),
    HOURS,
  );
});

/** Appends lines and names them, as a worker's thread does; given as text, since it is not compiled. */
const APPENDS = `
  const { appendFileSync } = require('node:fs');
  const { lines, entries, file } = require('node:worker_threads').workerData;
  for (const [i, line] of lines.entries()) {
    appendFileSync(file + '.jsonl', line);
    appendFileSync(file + '.index', entries[i]);
  }`;

describe('a segment that grows', () => {
  test(
    'is never broken to a reader beside its writer, whenever the reader looks',
    async () => {
      const played = mkdtempSync(join(root, 'long-'));
      await deedsIn(played, 100);
      const ended = join(played, RUN, 'ended');
      const split = (end: string) =>
        readFileSync(
          join(
            ended,
            readdirSync(ended).find((name) => name.endsWith(end))!,
          ),
          'utf8',
        ).split(/(?<=\n)/);
      const [lines, entries] = [split('.jsonl'), split('.index')];
      expect(lines).toHaveLength(100);
      let seen = 0;
      for (let round = 0; round < LOOKS; round++) {
        const folder = mkdtempSync(join(root, 'grows-'));
        mkdirSync(join(folder, 'ended'));
        const file = join(folder, 'ended', 'a');
        for (const end of ['.jsonl', '.index']) writeFileSync(file + end, '');
        const reader = openSegments(folder);
        const writer = new Worker(APPENDS, { eval: true, workerData: { lines, entries, file } });
        let grows = true;
        writer.once('exit', () => (grows = false));
        while (grows) {
          expect(await reader.look({ query: 'never', sample: 0, attempt: 1 })).toBe(false);
          await breath();
        }
        for await (const _ of reader.entries()) seen++;
        rmSync(folder, { recursive: true });
      }
      expect(seen).toBe(100 * LOOKS);
    },
    HOURS,
  );
});
