// The promise of docs/reliability.md: a record is durable before its put returns, and a power cut at any moment leaves a
// run that goes on. Proved on a simulated disk (power-disk.ts). POWER_CUTS sets the number of cuts, POWER_SEED the first.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import type { Store } from '../../records/store.ts';
import type { NameOf } from '../../records/format/kinds.ts';
import { playGoodRun } from './check/good-run.ts';
import { again, endAll, rolloutsIn, seenIn } from './ended-rig.ts';
import type { FileLayer } from '../../records/disk/file-layer.ts';
import { aQuery, play, putRun, RUN, type Script, someSettings } from './play.ts';
import { PowerCut, powerDisk } from './power-disk.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { breachesOf } from './breaches.ts';

const CUTS = Number(process.env['POWER_CUTS'] ?? 10);
const SEED = Number(process.env['POWER_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const root = scratchFolder();

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some of them share the folders above their own. */
const SCRIPTS: readonly Script[] = Array.from({ length: 4 }, (_, i) => ({
  query: aQuery(`q${i >> 1}`),
  index: i >> 1,
  sample: i % 2,
  verdicts: ['wrong', 'right', 'wrong'],
  versions: [0, 0, i % 2],
}));

/** Remembers each record whose put has returned: then Temporal may be informed. */
function remembering(store: Store, isOn: () => boolean, puts: (() => Promise<void>)[]): Store {
  return {
    ...store,
    async put(kind, of, record) {
      const stored = await store.put(kind, of, record);
      const name = [of, ...('turn' in record ? [record.turn] : [])] as unknown as NameOf<typeof kind>;
      if (isOn())
        puts.push(async () => expect(await reader!.get(kind, ...name)).toEqual({ ...stored, created: false }));
      return stored;
    },
  };
}
let reader: Store | undefined;

/** Plays a rollout as the activities do: its logs follow from its records, as drafts, and are settled before its end. */
async function playAgain(store: Store, script: Script): Promise<void> {
  const logs = new Map<string, Map<'txt' | 'jsonl', string>>();
  const put = async (version: number, name: string, draft: boolean): Promise<void> => {
    const text = logs.get(`${version} ${name}`)!;
    await store.putLog(version, name, { txt: text.get('txt')!, jsonl: text.get('jsonl')! }, { draft });
  };
  await play(
    {
      ...store,
      getLog: async (version, name, kind) => logs.get(`${version} ${name}`)?.get(kind),
      async putLog(version, name, { txt, jsonl }) {
        logs.set(
          `${version} ${name}`,
          new Map([
            ['txt', txt],
            ['jsonl', jsonl],
          ]),
        );
        await put(version, name, true);
      },
      async put(kind, of, record) {
        if (kind === 'end')
          for (const key of logs.keys()) await put(Number(key.split(' ')[0]), key.slice(key.indexOf(' ') + 1), false);
        return store.put(kind, of, record);
      },
    },
    script,
  );
}

const ends = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

describe(`a power cut (POWER_SEED=${SEED})`, () => {
  test('loses no record whose put has returned, and the run goes on to the same end', async () => {
    let cuts = 0;
    let most = 500;
    for (let n = 0; n < CUTS; n++) {
      const random = randomOf(SEED + n);
      const out = mkdtempSync(join(root, 'out-'));
      await putRun(openFileStore(out, RUN), [aQuery('q0'), aQuery('q1')], { samples: 2 });
      const disk = powerDisk(out, Math.floor(random() * most), random);
      const puts: (() => Promise<void>)[] = [];
      const store = remembering(openFileStore(out, RUN, { layer: disk.layer }), disk.isOn, puts);
      const played = await Promise.all(SCRIPTS.map((script) => ends(playAgain(store, script))));
      if (played.every(Boolean)) most = Math.min(most, disk.calls());
      else cuts++;
      const found = mkdtempSync(join(root, 'found-'));
      disk.afterCut(found);
      const at = `POWER_SEED=${SEED + n}`;
      reader = again(found);
      for (const put of puts)
        await put().catch((error: unknown) => {
          throw new Error(`${at}: a record that was acknowledged is gone or changed`, { cause: error });
        });
      for (const script of SCRIPTS) await playAgain(again(found), script);
      const breaches = (await breachesOf(again(found))).filter((breach) => !breach.startsWith('result.json'));
      expect(breaches, at).toEqual([]);
      for (const folder of [out, found]) rmSync(folder, { recursive: true });
    }
    expect(cuts).toBeGreaterThan(CUTS / 2);
  }, 3_600_000);

  test('loses no record below a folder that a writer made and died before it was durable', async () => {
    const out = mkdtempSync(join(root, 'out-'));
    await putRun(openFileStore(out, RUN), [aQuery('q0')], { samples: 2 });
    const disk = powerDisk(out, Infinity, () => 0);
    let opened = 0;
    const dying: FileLayer = {
      ...disk.layer,
      open: (path, flags) =>
        flags === 'wx' && ++opened === 1 ? disk.layer.open(path, flags) : Promise.reject(new PowerCut()),
    };
    const begin = (layer: FileLayer, sample: number) => {
      const id = { run: RUN, query: 'q0', sample, attempt: 1 };
      const record = { ...id, query: aQuery('q0'), index: 0, settings: someSettings(), birthTime: 1 };
      return openFileStore(out, RUN, { layer }).put('rollout', id, record);
    };
    expect(await ends(begin(dying, 0))).toBe(false);
    const { hash } = await begin(disk.layer, 1);
    const found = mkdtempSync(join(root, 'found-'));
    disk.afterCut(found);
    expect((await again(found).get('rollout', { run: RUN, query: 'q0', sample: 1, attempt: 1 }))?.hash).toBe(hash);
  });

  test('while rollouts become lines loses nothing, and the next worker does what is left', async () => {
    await playGoodRun(join(root, 'good'));
    const seen = await seenIn(again(join(root, 'good')));
    for (let n = 0; n < CUTS / 4; n++) {
      const random = randomOf(SEED + n);
      const out = mkdtempSync(join(root, 'out-'));
      cpSync(join(root, 'good'), out, { recursive: true });
      const disk = powerDisk(out, Math.floor(random() * 260), random);
      await ends(endAll(out, disk.layer));
      const found = mkdtempSync(join(root, 'found-'));
      disk.afterCut(found);
      const at = `POWER_SEED=${SEED + n}`;
      expect(rolloutsIn(await seenIn(again(found))), at).toEqual(rolloutsIn(seen));
      expect(await breachesOf(again(found)), at).toEqual([]);
      await endAll(found);
      expect(await seenIn(again(found)), at).toEqual(seen);
      expect(await breachesOf(again(found)), at).toEqual([]);
      for (const folder of [out, found]) rmSync(folder, { recursive: true });
    }
  }, 3_600_000);
});
