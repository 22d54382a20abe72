// A pack whose manifest is gone, moved away by somebody who followed an error: it may hold all there is of its rollouts.

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parsePackedId, readManifest } from '../../storage/pack/manifest.ts';
import { packRun } from '../../storage/pack/pack.ts';
import { unpackRun } from '../../storage/pack/unpack.ts';
import type { Store } from '../../storage/store.ts';
import { readSummaries } from '../../storage/summaries.ts';
import { rolloutsInOrder } from '../../storage/trajectories.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { again, bytesIn, mortalLayer } from './pack-rig.ts';
import { RUN } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-orphans-'));
afterAll(() => rmSync(root, { recursive: true }));

const zipsIn = (packs: string) => readdirSync(packs).filter((name) => name.endsWith('.zip'));

describe('a pack that no manifest names', () => {
  test('stays while its rollouts are nowhere else, and is whole again with its manifest', async () => {
    await playGoodRun(root);
    const loose = bytesIn(join(root, RUN));
    await packRun(again(root), { minAgeMs: 0, rolloutsPerPack: 4 });
    const packs = join(root, RUN, 'packs');
    const before = zipsIn(packs);
    const [first, last] = [join(packs, '000001.json'), join(packs, '000003.json')];
    renameSync(last, `${root}/saved-3.json`);
    for (const name of before) utimesSync(join(packs, name), 1, 1);

    const reported: string[] = [];
    await packRun(again(root), { minAgeMs: 0, onProblem: (path, problem) => reported.push(`${path} ${problem}`) });
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatch(
      /^packs\/000003-[0-9a-f]{12}\.zip is named by no manifest, and holds 1 rollout that is nowhere else/,
    );
    expect(zipsIn(packs)).toEqual(before);

    renameSync(first, `${root}/saved-1.json`);
    await expect(unpackRun(join(root, RUN))).rejects.toMatchObject({
      message: expect.stringContaining('is named by no manifest') as string,
      fix: expect.stringContaining('from a copy of the run') as string,
    });
    expect(zipsIn(packs)).toEqual(before.filter((name) => !name.startsWith('000002')));
    copyFileSync(`${root}/saved-1.json`, first);
    copyFileSync(`${root}/saved-3.json`, last);
    await unpackRun(join(root, RUN));
    expect(existsSync(packs)).toBe(false);
    expect(bytesIn(join(root, RUN))).toEqual(loose);
  });

  test('is an error for whoever would read less without a word, as long as its rollouts are nowhere else', async () => {
    const out = mkdtempSync(join(root, 'read-'));
    const [packs, saved] = [join(out, RUN, 'packs'), join(out, 'saved.json')];
    await playGoodRun(out);
    const loose = join(out, 'loose');
    cpSync(join(out, RUN, 'rollouts'), loose, { recursive: true });
    await packRun(again(out), { minAgeMs: 0, rolloutsPerPack: 4 });
    const store = again(out);
    const all = await idsIn(store);
    const manifest = join(packs, '000003.json');
    const [lost] = (await readManifest(join(out, RUN), 3))!.rollouts.map((id) => parsePackedId(id)!);
    const readers: Readonly<Record<string, () => Promise<unknown>>> = {
      'an export': () => idsIn(store),
      statistics: () => drained(readSummaries(store)),
      'a listing': () => drained(store.listRollouts()),
      'the viewer': () => drained(store.listPacked()),
      'one query': () => store.listRolloutsOf(lost!.query),
    };
    renameSync(manifest, saved);
    for (const [reader, read] of Object.entries(readers)) {
      const error = {
        message: expect.stringMatching(/000003-.*is named by no manifest, and holds 1 rollout/) as string,
      };
      await expect(read(), reader).rejects.toMatchObject({ ...error, fix: expect.stringContaining('copy') as string });
    }
    const other = all.find(({ query }) => query !== lost!.query)!;
    expect(await store.listRolloutsOf(other.query)).toEqual(all.filter(({ query }) => query === other.query));
    // One that was written a moment ago as well, and once only.
    const reported: string[] = [];
    await packRun(again(out), { minAgeMs: 0, onProblem: (path, problem) => reported.push(`${path} ${problem}`) });
    expect(reported).toEqual([expect.stringMatching(/^packs\/000003-.* is named by no manifest/)]);

    // A packer that has written its pack and not published it: all is loose.
    cpSync(loose, join(out, RUN, 'rollouts'), { recursive: true });
    expect(await idsIn(again(out))).toEqual(all);
    rmSync(join(out, RUN, 'rollouts'), { recursive: true });
    renameSync(saved, manifest);
    expect(await idsIn(again(out))).toEqual(all);
    expect(await idsIn(store)).toEqual(all);
  });

  test('a pack that is cut or gone is named by the next packer', async () => {
    const out = mkdtempSync(join(root, 'cut-'));
    await playGoodRun(out);
    await packRun(again(out), { minAgeMs: 0, rolloutsPerPack: 4 });
    const packs = join(out, RUN, 'packs');
    const [first, second] = zipsIn(packs);
    rmSync(join(packs, first!));
    truncateSync(join(packs, second!), 100);
    const reported: string[] = [];
    await packRun(again(out), { minAgeMs: 0, onProblem: (path, problem) => reported.push(`${path} ${problem}`) });
    expect(reported).toEqual([
      `packs/${first} is missing`,
      expect.stringMatching(`^packs/${second} is cut or changed: it has 100 bytes of`),
    ]);
  });
});

describe('an unpacker that is killed', () => {
  test.each(['pack', 'unpack'] as const)('leaves temporary files, which the next %s removes', async (next) => {
    let left = 0;
    for (const after of [7, 20, 45, 90, 150]) {
      const out = mkdtempSync(join(root, 'kill-'));
      await playGoodRun(out);
      const loose = bytesIn(join(out, RUN));
      await packRun(again(out), { minAgeMs: 0, rolloutsPerPack: 4 });
      await expect(unpackRun(join(out, RUN), mortalLayer(after).layer)).rejects.toThrow();
      // As if another process had written them, which is no more.
      const { pid } = spawnSync(process.execPath, ['-e', '']);
      for (const path of temporariesIn(out)) {
        left++;
        renameSync(join(out, path), join(out, path.replace(`.${process.pid}-`, `.${pid}-`)));
      }
      if (next === 'pack') await packRun(again(out), { minAgeMs: 0 });
      else await unpackRun(join(out, RUN));
      expect(temporariesIn(out)).toEqual([]);
      await unpackRun(join(out, RUN));
      expect(bytesIn(join(out, RUN))).toEqual(loose);
    }
    expect(left).toBeGreaterThan(0);
  });
});

const temporariesIn = (out: string): string[] =>
  readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tmp'));

async function drained<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const idsIn = (store: Store) => drained(rolloutsInOrder(store, { attempts: 'all' }));
