import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { StoreError } from '../../domain/errors/errors.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openRecordCache } from '../../records/in-flight/cache.ts';
import { openThreadedDisk } from '../../records/steps/threaded-disk.ts';
import { storeContract } from '../contract/store.ts';
import { compiledRoom } from '../support/compiled.ts';
import { RUN } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();
const entry = () => join(compiledRoom('records'), 'steps/thread.js');
const disk = openThreadedDisk(entry);
afterAll(async () => {
  await disk.close();
});
const place = () => mkdtempSync(join(root, 'out-'));

// As a worker opens it.
const cache = openRecordCache();
storeContract('files by threads, with a cache', {
  create: () => openFileStore(place(), RUN, { cache, disk }),
  again: (store) => openFileStore(dirname(store.folder), RUN, { cache, disk }),
});

describe('a disk in a thread', () => {
  test('of hundreds of calls at once each gets its own reply, and one writer of each file wins', async () => {
    const folder = place();
    const won = await Promise.all(
      Array.from({ length: 600 }, (_, i) => disk.writeOnce(join(folder, `${i % 200}`), `${i}`)),
    );
    expect(won.filter(Boolean)).toHaveLength(200);
    const texts = await Promise.all(Array.from({ length: 200 }, (_, i) => disk.read(join(folder, `${i}`))));
    expect(texts.map(Number)).toEqual(Array.from({ length: 200 }, (_, i) => [i, i + 200, i + 400].find((k) => won[k])));
    expect(readdirSync(folder)).toHaveLength(200);
  });

  test('a failure is the same error as without threads: named, with its fix and its cause', async () => {
    const folder = place();
    writeFileSync(join(folder, 'a-file'), '');
    const error = await disk.writeOnce(join(folder, 'a-file', 'x'), 'text').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({
      reason: 'not-a-folder',
      retryable: false,
      fix: expect.stringContaining('--out'),
      message: expect.stringContaining(join(folder, 'a-file', 'x')),
      cause: { code: 'ENOTDIR' },
    });
    mkdirSync(join(folder, 'b-folder'));
    await expect(disk.read(join(folder, 'b-folder'))).rejects.toMatchObject({ reason: 'is-a-folder' });
  });

  test('calls under way are carried out before the threads end', async () => {
    const folder = place();
    const closing = openThreadedDisk(entry);
    const calls = Array.from({ length: 20 }, (_, i) => closing.writeOnce(join(folder, `${i}`), 'x'.repeat(100_000)));
    await closing.close();
    expect(await Promise.all(calls)).not.toContain(false);
    expect(readdirSync(folder)).toHaveLength(20);
  });

  test('a thread that ends unasked fails its calls as worth trying again, and the next call gets a new one', async () => {
    const folder = place();
    const dying = join(folder, 'dying.mjs');
    writeFileSync(
      dying,
      `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => process.exit(7));`,
    );
    const entries = [dying, entry()];
    const mortal = openThreadedDisk(() => entries.shift()!);
    await expect(mortal.read(join(folder, 'x'))).rejects.toMatchObject({ reason: 'disk-thread', retryable: true });
    expect(await mortal.read(join(folder, 'x'))).toBeUndefined();
    await mortal.close();
  });
});
