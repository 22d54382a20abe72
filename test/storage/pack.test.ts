// A packed run is the same run: to every reader, to a late writer, after a kill at any change of the disk, and unpacked.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logName } from '../../domain/turn-log.ts';
import { checkRun } from '../../proof/check.ts';
import { openFileStore } from '../../storage/files.ts';
import { packRun, type PackOptions } from '../../storage/pack/pack.ts';
import { unpackRun } from '../../storage/pack/unpack.ts';
import { readSummaries } from '../../storage/summaries.ts';
import { searchRun } from '../../storage/search.ts';
import { openRecordCache } from '../../storage/record/cache.ts';
import { rolloutFolder } from '../../storage/record/layout.ts';
import type { Breach } from '../../storage/store.ts';
import { all } from '../contract/store.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { again, bytesIn, mortalLayer, seenIn } from './pack-rig.ts';
import { aQuery, RUN, someSettings, turnRecord } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-pack-'));
afterAll(() => rmSync(root, { recursive: true }));

let loose: Record<string, string>;
let seen: unknown;
beforeAll(async () => {
  await playGoodRun(join(root, 'good'));
  loose = bytesIn(join(root, 'good', RUN));
  seen = await seenIn(again(join(root, 'good')));
});

function copy(): string {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  return out;
}
const SMALL: PackOptions = { minAgeMs: 0, rolloutsPerPack: 2 };
async function packedCopy(options = SMALL): Promise<string> {
  const out = copy();
  expect(await packRun(again(out), options)).toMatchObject({ rollouts: 9, notEnded: 0, problems: 0 });
  return out;
}
async function breachesOf(out: string): Promise<Breach[]> {
  const breaches: Breach[] = [];
  await checkRun(again(out), (breach) => breaches.push(breach));
  return breaches;
}
const ID = { run: RUN, query: 'one', sample: 0, attempt: 1 };

describe('a packed run', () => {
  test('is read as before: records, hashes, logs and listings, and nothing of it is loose', async () => {
    const out = await packedCopy();
    const names = Object.keys(bytesIn(join(out, RUN)));
    expect(names.filter((name) => !/^packs\/0{5}[1-5](?:\.json|-[0-9a-f]{12}\.zip)$/.test(name)).sort()).toEqual([
      'queries.index',
      'queries.jsonl',
      'result.json',
      'run.json',
    ]);
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await breachesOf(out)).toEqual([]);
  });

  test('has the same summaries and search hits', async () => {
    const out = await packedCopy();
    for (const detail of ['ends', 'turns', 'logprobs'] as const)
      expect(await all(readSummaries(again(out), { detail }))).toEqual(
        await all(readSummaries(again(join(root, 'good')), { detail })),
      );
    const hits = await all(searchRun(again(join(root, 'good')), 'it is 2'));
    expect(hits.length).toBeGreaterThan(0);
    expect(await all(searchRun(again(out), 'it is 2'))).toEqual(hits);
  });

  test('is read as before by stores that were opened before it was packed, with a cache and without', async () => {
    const out = copy();
    const stores = [again(out), openFileStore(out, RUN, { cache: openRecordCache() })];
    for (const store of stores) expect(await store.getTurn(ID, 1)).toBeDefined();
    await packRun(again(out), SMALL);
    for (const store of stores) expect(await seenIn(store)).toEqual(seen);
  });

  test('is read as before at every moment while it is packed and unpacked', async () => {
    const out = copy();
    let busy = true;
    const reader = (async () => {
      const store = again(out);
      let reads = 0;
      for (; busy; reads++) {
        expect(await seenIn(store)).toMatchObject({
          rollouts: (seen as { rollouts: unknown[] }).rollouts.map(withoutFiles),
        });
        expect(await seenIn(again(out))).toMatchObject({
          rollouts: (seen as { rollouts: unknown[] }).rollouts.map(withoutFiles),
        });
      }
      return reads;
    })();
    for (let round = 0; round < 3; round++) {
      await packRun(again(out), { ...SMALL, rolloutsPerPack: round + 1 });
      await unpackRun(join(out, RUN));
    }
    busy = false;
    expect(await reader).toBeGreaterThan(0);
    expect(bytesIn(join(out, RUN))).toEqual(loose);
  });

  test('becomes the same files again, byte for byte', async () => {
    const out = await packedCopy();
    expect(await unpackRun(join(out, RUN))).toEqual({ packs: 5, rollouts: 9 });
    expect(bytesIn(join(out, RUN))).toEqual(loose);
  });

  test('is opened by any unzip: its entries are the lines of the files', async () => {
    const out = await packedCopy({ minAgeMs: 0 });
    const packs = join(out, RUN, 'packs');
    const zip = readdirSync(packs).find((name) => name.endsWith('.zip'))!;
    const script =
      'import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n' +
      'print(json.dumps({n:z.read(n).decode("utf8") for n in z.namelist()}))';
    const entries = JSON.parse(
      execFileSync('python3', ['-c', script, join(packs, zip)], { encoding: 'utf8' }),
    ) as Record<string, string>;
    const name = `${rolloutFolder(ID)}.jsonl`;
    const files = ['rollout', 'turn-001', 'verdict-001', 'turn-002', 'verdict-002', 'turn-003', 'verdict-003', 'end'];
    const text = (file: string) => Buffer.from(loose[`${rolloutFolder(ID)}/${file}.json`]!, 'latin1').toString();
    expect(entries[name]).toBe(files.map(text).join(''));
    expect(Object.keys(entries).filter((one) => one.startsWith('answers/')).length).toBeGreaterThan(9);
  });

  test('gives a late writer what is packed, takes nothing new, and leaves nothing loose', async () => {
    const out = await packedCopy();
    const before = bytesIn(join(out, RUN));
    for (const store of [again(out), openFileStore(out, RUN, { cache: openRecordCache() })]) {
      const first = (await store.getTurn(ID, 2))!;
      expect(await store.putTurn(ID, { ...turnRecord(2, 'late'), previous: 'x' })).toEqual(first);
      const query = aQuery('one', { solutions: ['late'] });
      const rollout = { run: RUN, query, index: 0, sample: 0, attempt: 1, settings: someSettings(), birthTime: 9 };
      expect((await store.putRollout(ID, rollout)).record.query.solutions).toEqual(['42']);
      const verdict = { turn: 2, verdict: 'wrong', reason: 'late', of: first.hash, tookMs: 1 } as const;
      expect(await store.putVerdict(ID, verdict)).toEqual(await store.getVerdict(ID, 2));
      const end = (await store.getEnd(ID))!;
      expect(await store.putEnd(ID, { ...end.record, finishedAt: 1 })).toEqual(end);
      await expect(store.putTurn(ID, { ...turnRecord(4, 'late'), previous: 'x' })).rejects.toMatchObject({
        reason: 'packed',
      });
      const log = {
        txt: (await store.getLog(0, logName(ID), 'txt'))!,
        jsonl: (await store.getLog(0, logName(ID), 'jsonl'))!,
      };
      await store.putLog(0, logName(ID), log);
      await store.putLog(0, logName(ID), { txt: log.txt.slice(0, 40), jsonl: '' }, { draft: true });
      await expect(store.putLog(0, logName(ID), { txt: 'late', jsonl: 'late' })).rejects.toMatchObject({
        reason: 'packed',
      });
      await store.dropChunks(ID, 2);
    }
    expect(bytesIn(join(out, RUN))).toEqual(before);
  });

  test('takes a new attempt beside a packed one', async () => {
    const out = await packedCopy();
    const id = { ...ID, attempt: 2 };
    const rollout = { ...id, query: aQuery('one'), index: 0, settings: someSettings(), birthTime: 9 };
    expect((await again(out).putRollout(id, rollout)).created).toBe(true);
    expect(await again(out).listRolloutsOf('one')).toEqual([ID, id, { ...ID, sample: 1 }]);
  });
});

describe('packing', () => {
  test('leaves alone what has not ended, has just ended, or has a flaw', async () => {
    const out = copy();
    const folder = join(out, RUN);
    rmSync(join(folder, rolloutFolder({ ...ID, query: 'two' }), 'end.json'));
    const flawed = join(rolloutFolder(ID), 'turn-002.json');
    writeFileSync(join(folder, flawed), readFileSync(join(folder, flawed), 'utf8').replace('it is 2', 'it is 3'));
    const before = bytesIn(folder);
    expect(await packRun(again(out))).toMatchObject({ rollouts: 0, notEnded: 9, problems: 0 });
    expect(bytesIn(folder)).toEqual(before);
    const problems: string[] = [];
    const onProblem = (path: string, problem: string) => problems.push(`${path}: ${problem}`);
    expect(await packRun(again(out), { ...SMALL, onProblem })).toMatchObject({ rollouts: 7, notEnded: 1, problems: 1 });
    expect(problems.join()).toMatch(/one\/0\.1: stays loose: turn-002\.json is changed/);
    expect(bytesIn(folder)[flawed]).toBe(before[flawed]);
    expect((await breachesOf(out)).some(({ path }) => path === flawed)).toBe(true);
  });

  test('goes on where it was: what ended since goes into further packs', async () => {
    const out = copy();
    const end = join(out, RUN, rolloutFolder({ ...ID, query: 'two' }), 'end.json');
    const text = readFileSync(end);
    rmSync(end);
    await packRun(again(out), { minAgeMs: 0 });
    writeFileSync(end, text);
    expect(await packRun(again(out), { minAgeMs: 0 })).toMatchObject({ rollouts: 1, packs: 1 });
    expect(await packRun(again(out), { minAgeMs: 0 })).toMatchObject({ rollouts: 0, packs: 0, notEnded: 0 });
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await breachesOf(out)).toEqual([]);
  });

  test('by several at once packs no rollout twice', async () => {
    for (let round = 0; round < 5; round++) {
      const out = copy();
      const all = await Promise.all([1, 2, 3].map((n) => packRun(again(out), { ...SMALL, rolloutsPerPack: n })));
      expect(all.reduce((sum, { rollouts }) => sum + rollouts, 0)).toBe(9);
      expect(all.map(({ problems }) => problems)).toEqual([0, 0, 0]);
      await packRun(again(out), SMALL);
      expect(await seenIn(again(out))).toEqual(seen);
      expect(await breachesOf(out)).toEqual([]);
    }
  });

  test('never removes a loose file that is not its packed twin, and check names it', async () => {
    const out = await packedCopy();
    const stray = join(out, RUN, rolloutFolder(ID));
    cpSync(join(root, 'good', RUN, rolloutFolder(ID)), stray, { recursive: true });
    writeFileSync(join(stray, 'turn-002.json'), 'other\n');
    expect((await packRun(again(out), SMALL)).problems).toBe(1);
    expect(readFileSync(join(stray, 'turn-002.json'), 'utf8')).toBe('other\n');
    expect(await breachesOf(out)).toContainEqual({
      path: `${rolloutFolder(ID)}/turn-002.json`,
      problem: 'is not what its pack holds',
    });
  });
});

/** Every one with EVERTURN_KILLS=each (minutes); else a sample that begins at another one each time. */
const strideOf = (usual: number) => (process.env['EVERTURN_KILLS'] === 'each' ? 1 : usual);

/** Runs `work` again and again, each time dead after some more changes of the disk, until it lives. */
async function killedAtEach(
  stride: number,
  start: () => Promise<string>,
  work: (out: string, mortal: ReturnType<typeof mortalLayer>) => Promise<unknown>,
  after: (out: string, steps: readonly string[]) => Promise<void>,
) {
  const deaths = new Map<string, number>();
  for (let n = Math.floor(Math.random() * stride); ; n += stride) {
    const out = await start();
    const mortal = mortalLayer(n);
    const died = await work(out, mortal).then(
      () => false,
      () => true,
    );
    await after(out, mortal.steps);
    rmSync(out, { recursive: true });
    if (!died && mortal.changes() < n) return deaths;
    const step = kindOf(mortal.steps.at(-1) ?? 'begin');
    deaths.set(step, (deaths.get(step) ?? 0) + 1);
  }
}
const kindOf = (step: string): string =>
  step.replace(/ .*\/(?:\.?\d{6}[^/]*\.(zip|json)|([^/]+)).*$/, ' $1$2').replace(/ \.clock.*/, ' clock');

describe('a kill', () => {
  test('at any change of the disk while packing loses nothing, doubles nothing, and the next call completes it', async () => {
    const deaths = await killedAtEach(
      strideOf(10),
      async () => copy(),
      (out, { layer }) => packRun(again(out), { minAgeMs: 0, rolloutsPerPack: 4, layer }),
      async (out) => {
        expect(withoutListed(await seenIn(again(out)))).toEqual(withoutListed(seen));
        expect(await breachesOf(out)).toEqual([]);
        await packRun(again(out), SMALL);
        expect(await seenIn(again(out))).toEqual(seen);
        expect(Object.keys(bytesIn(join(out, RUN))).filter((path) => path.startsWith('rollouts/'))).toEqual([]);
        expect(await breachesOf(out)).toEqual([]);
      },
    );
    expect([...deaths.values()].reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(15);
  }, 600_000);

  test('at any change of the disk while unpacking loses nothing, and the next call completes it', async () => {
    const template = await packedCopy({ minAgeMs: 0, rolloutsPerPack: 4 });
    await killedAtEach(
      strideOf(30),
      async () => {
        const out = mkdtempSync(join(root, 'un-'));
        cpSync(template, out, { recursive: true });
        return out;
      },
      (out, { layer }) => unpackRun(join(out, RUN), layer),
      async (out) => {
        expect(withoutListed(await seenIn(again(out)))).toEqual(withoutListed(seen));
        expect(await breachesOf(out)).toEqual([]);
        await unpackRun(join(out, RUN));
        expect(bytesIn(join(out, RUN))).toEqual(loose);
      },
    );
  }, 600_000);
});

const withoutFiles = (rollout: unknown) => {
  const { files: _, ...rest } = rollout as { files: unknown };
  return rest;
};
const withoutListed = (value: unknown) => (value as { rollouts: unknown }).rollouts;
