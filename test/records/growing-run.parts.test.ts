// A sound run is sound to every reader while workers write it, on a disk and in a bucket. LOOKS=10000 takes as many looks
// by each reader; else a few.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breath } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { bucketEnvironment, openS3Server, type S3Server, useBuckets } from '../support/s3-server.ts';
import { deedsIn, look, openWriters, type Reader, READERS, type Writers } from './growing-run.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const LOOKS = Number(process.env['LOOKS'] ?? 4);
const HOURS = 4 * 3_600_000;
const root = scratchFolder();
let server: S3Server;
let restore: () => void;
let writers: Writers;
/** Played once for all readers. */
const deeds = {
  2: deedsIn(mkdtempSync(join(root, 'played-')), 2),
  16: deedsIn(mkdtempSync(join(root, 'played-')), 16),
};
beforeAll(async () => {
  server = await openS3Server({ pageKeys: 7 });
  restore = useBuckets(bucketEnvironment(server.url));
  // Threads, which have the environment of the moment.
  writers = openWriters();
});
afterAll(async () => {
  await writers.close();
  restore();
  await server.close();
});

/** Looks until there were enough of them that began while a run grew. */
async function looksAt(
  place: () => string,
  queries: keyof typeof deeds,
  pauseMs: number,
  reader: Reader,
): Promise<void> {
  for (let looks = 0; looks < LOOKS;) {
    const out = place();
    const run = await writers.write(out, await deeds[queries], pauseMs);
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
}

describe('a run that grows is sound to every reader', () => {
  test.each(Object.entries(READERS))(
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
