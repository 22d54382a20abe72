// A pack whose manifest is gone, moved away or lost in a copy: it may hold all there is of its rollouts, and gets it again.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { NODE_FILES } from '../../storage/disk/file-layer.ts';
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
  test.each(['pack', 'unpack'] as const)('gets it again by %s, byte for byte', async (way) => {
    const out = mkdtempSync(join(root, 'again-'));
    await playGoodRun(out);
    const loose = bytesIn(join(out, RUN));
    await packRun(again(out), { minAgeMs: 0, rolloutsPerPack: 4 });
    const packed = bytesIn(join(out, RUN));
    const packs = join(out, RUN, 'packs');
    for (const lost of [[1], [2], [3], [1, 3], [1, 2, 3]]) {
      for (const number of lost) rmSync(join(packs, `00000${number}.json`));
      for (const name of zipsIn(packs)) utimesSync(join(packs, name), 1, 1);
      if (way === 'pack') {
        const made: number[] = [];
        const onNamedAgain = ({ number }: { number: number }) => made.push(number);
        const summary = await packRun(again(out), { minAgeMs: 0, onNamedAgain });
        expect(summary).toMatchObject({ packs: 0, problems: 0, namedAgain: lost.length });
        expect(made).toEqual(lost);
      } else {
        expect(await unpackRun(join(out, RUN))).toEqual({ packs: 3, rollouts: 9 });
        expect(bytesIn(join(out, RUN))).toEqual(loose);
        for (const path of Object.keys(loose)) if (!packed[path]) rmSync(join(out, RUN, path));
        for (const [path, text] of Object.entries(packed)) {
          mkdirSync(dirname(join(out, RUN, path)), { recursive: true });
          writeFileSync(join(out, RUN, path), text, 'latin1');
        }
      }
      expect(bytesIn(join(out, RUN))).toEqual(packed);
    }
  });

  test('gets it once, whoever makes it, also beside the packer that wrote the pack', async () => {
    for (let round = 0; round < 8; round++) {
      const out = mkdtempSync(join(root, 'race-'));
      await playGoodRun(out);
      await packRun(again(out), { minAgeMs: 0, rolloutsPerPack: 4 });
      const packed = bytesIn(join(out, RUN));
      for (const number of [2, 3]) rmSync(join(out, RUN, `packs/00000${number}.json`));
      const all = [1, 2, 3].map((n) => packRun(again(out), { minAgeMs: 0, rolloutsPerPack: n }));
      expect((await Promise.all(all)).map(({ problems }) => problems)).toEqual([0, 0, 0]);
      expect(bytesIn(join(out, RUN))).toEqual(packed);
    }
  });

  /** A packer that sleeps between its zip and its manifest. */
  async function asleep(out: string) {
    let wake = () => {};
    const woken = new Promise<void>((resolve) => (wake = resolve));
    const packer = new Promise<{ sleeper: ReturnType<typeof packRun>; late: string }>((sleeps) => {
      const link: typeof NODE_FILES.link = async (from, to) => {
        if (to.endsWith('.json')) sleeps({ sleeper, late: zipsIn(join(out, RUN, 'packs'))[0]! });
        if (to.endsWith('.json')) await woken;
        return NODE_FILES.link(from, to);
      };
      const sleeper = packRun(again(out), { minAgeMs: 0, layer: { ...NODE_FILES, link } });
      sleeper.catch(() => {});
    });
    return { wake, ...(await packer) };
  }

  test.each(['its own', 'any'] as const)(
    'is not lost by a packer that slept until %s pack had the manifest',
    async (which) => {
      const out = mkdtempSync(join(root, 'slept-'));
      await playGoodRun(out);
      const loose = bytesIn(join(out, RUN));
      const { wake, sleeper, late } = await asleep(out);
      await packRun(again(out), { minAgeMs: 0 });
      const packs = join(out, RUN, 'packs');
      // Both zips hold everything, and nothing says so.
      rmSync(join(packs, '000001.json'));
      if (which === 'its own')
        rmSync(
          join(
            packs,
            zipsIn(packs).find((name) => name !== late)!,
          ),
        );
      const [first] = zipsIn(packs);
      await packRun(again(out), { minAgeMs: 0 });
      expect((await readManifest(join(out, RUN), 1))!.pack).toBe(first);
      wake();
      expect((await sleeper).problems).toBe(0);
      expect(zipsIn(packs).includes(late)).toBe(first === late);
      await unpackRun(join(out, RUN));
      expect(bytesIn(join(out, RUN))).toEqual(loose);
    },
  );

  test('that was removed as a leftover before its manifest was there gets none', async () => {
    const out = mkdtempSync(join(root, 'late-'));
    await playGoodRun(out);
    const loose = bytesIn(join(out, RUN));
    const { wake, sleeper, late } = await asleep(out);
    rmSync(join(out, RUN, 'packs', late));
    wake();
    await expect(sleeper).rejects.toThrow(/was removed by another packer/);
    expect(bytesIn(join(out, RUN))).toEqual(loose);
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
      await expect(read(), reader).rejects.toMatchObject({
        ...error,
        fix: expect.stringContaining('everturn pack') as string,
      });
    }
    const other = all.find(({ query }) => query !== lost!.query)!;
    expect(await store.listRolloutsOf(other.query)).toEqual(all.filter(({ query }) => query === other.query));
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
      expect.stringMatching(`^packs/${first} is missing: its 4 rollouts cannot be read. Take this file`),
      expect.stringMatching(`^packs/${second} is cut or changed: .*: its 4 rollouts cannot be read. Take this file`),
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
