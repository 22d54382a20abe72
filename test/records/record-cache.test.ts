import { mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { openRecordCache } from '../../records/in-flight/cache.ts';
import type { Store } from '../../records/store.ts';
import { storeContract } from '../contract/store.ts';
import { aQuery, play, RUN, turnRecord } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { fileOf } from '../../records/format/rollout-file.ts';

const root = scratchFolder();
const place = () => mkdtempSync(join(root, 'out-'));

const shared = openRecordCache();
storeContract('files with a cache', {
  create: () => openFileStore(place(), RUN, { cache: shared }),
  again: (store) => openFileStore(dirname(store.folder), RUN, { cache: shared }),
});

const id = { run: RUN, query: 'q', sample: 0, attempt: 1 };
const script = { query: aQuery('q'), verdicts: ['wrong', 'right'], stop: null } as const;
const turnPath = (store: Store, turn: number) => join(store.folder, rolloutFolder(id), fileOf('turn', turn));

describe('the cache of records', () => {
  test('a record that was read or written is not read again', async () => {
    const out = place();
    const cache = openRecordCache();
    await play(openFileStore(out, RUN), script);
    const written = await openFileStore(out, RUN, { cache }).put('turn', id, turnRecord(3, 'more'));
    const first = openFileStore(out, RUN, { cache });
    const read = [await first.get('turn', id, 1), await first.get('verdict', id, 1)];
    for (const turn of [1, 3]) writeFileSync(turnPath(first, turn), 'torn');
    const second = openFileStore(out, RUN, { cache });
    expect(await second.get('turn', id, 1)).toEqual(read[0]);
    expect(await second.get('verdict', id, 1)).toEqual(read[1]);
    expect(await second.get('turn', id, 3)).toEqual({ ...written, created: false });
    await expect(openFileStore(out, RUN).get('turn', id, 1)).rejects.toThrow('turn-001');
  });

  test('a record that was not there is looked for again', async () => {
    const out = place();
    const store = openFileStore(out, RUN, { cache: openRecordCache() });
    await play(store, script);
    expect(await store.get('turn', id, 3)).toBeUndefined();
    await openFileStore(out, RUN).put('turn', id, turnRecord(3, 'of another worker'));
    expect((await store.get('turn', id, 3))!.record.contextText).toBe('of another worker');
  });

  test('what is kept is bounded: the rollout that was looked at longest ago goes first', () => {
    const cache = openRecordCache(100);
    const stored = { record: {}, hash: 'h', created: true };
    const of = (folder: string) => cache.of(folder, 'the same')!;
    const held = () => ['a', 'b', 'c'].map((folder) => of(folder).get('x') !== undefined);
    of('a').keep('x', stored, 40);
    of('b').keep('x', stored, 40);
    of('a');
    const last = of('c');
    last.keep('x', stored, 40);
    expect(held()).toEqual([true, false, true]);
    last.keep('y', stored, 101);
    expect(held()).toEqual([false, false, false]);
    last.keep('z', stored, 1);
    expect(of('c').get('z'), 'what was let go takes nothing more').toBeUndefined();
    const again = of('c');
    again.keep('z', stored, 100);
    expect(of('c').get('z')!.created).toBe(false);
    expect(cache.has('c', 'z')).toBe(true);
    cache.forget('c');
    expect(cache.has('c', 'z')).toBe(false);
    expect(cache.of('c', undefined)).toBeUndefined();
  });
});
