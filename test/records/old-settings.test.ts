// Runs of older versions: run.json and rollout.json without the settings that came later.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../domain/run/defaults.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import { checkRun } from '../../records/check/check.ts';
import { createRun } from '../../run/create-run.ts';
import { surveyDataset } from '../../run/survey.ts';
import { openFileStore } from '../../records/files.ts';
import { RUN_FILE } from '../../records/record/layout.ts';
import { openRecordCache } from '../../records/record/cache.ts';
import type { Breach, Store } from '../../records/store.ts';
import { aQuery, play, putRun, RUN, someSettings } from './play.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-old-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every run wrote its budget, which its turns are held against. */
const KEYS = (Object.keys(DEFAULT_SETTINGS) as (keyof typeof DEFAULT_SETTINGS)[]).filter(
  (key) => key !== 'maxNewTokens',
);
const query = aQuery('one');
const id = { run: RUN, query: query.queryId, sample: 0, attempt: 1 };

/** As a version wrote them that had no such settings. */
function without(settings: RolloutSettings, keys: readonly string[]): RolloutSettings {
  return Object.fromEntries(
    Object.entries(settings).filter(([key]) => !keys.includes(key)),
  ) as object as RolloutSettings;
}

let count = 0;
/** A run that was played with the defaults of all `missing` settings. */
async function oldRun(missing: readonly (keyof typeof DEFAULT_SETTINGS)[], ofRollout = missing): Promise<Store> {
  const out = join(folder, String(++count));
  const played = { ...someSettings(), ...Object.fromEntries(missing.map((key) => [key, DEFAULT_SETTINGS[key]])) };
  const store = openFileStore(out, RUN);
  // One of two samples: a run that is not finished owes no result.json.
  await putRun(store, [query], { samples: 2, settings: without(played, missing) });
  await play(withSettings(store, without(played, ofRollout)), {
    query,
    settings: played,
    verdicts: Array.from({ length: played.numTurns }, () => 'wrong' as const),
  });
  return openFileStore(out, RUN);
}

/** Writes its rollout with these settings, whatever it is played with. */
function withSettings(store: Store, settings: RolloutSettings): Store {
  return { ...store, putRollout: (of, record) => store.putRollout(of, { ...record, settings }) };
}

async function breachesOf(store: Store): Promise<Breach[]> {
  const breaches: Breach[] = [];
  await checkRun(store, (breach) => breaches.push(breach));
  return breaches;
}

describe('a run of an older version', () => {
  test('has every setting where it is read, and passes the check, whichever settings were not written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(KEYS), fc.subarray(KEYS), async (missing, some) => {
        const store = await oldRun(
          missing,
          missing.filter((key) => some.includes(key)),
        );
        const { settings } = (await store.getRun())!.record;
        const ofRollout = (await store.getRollout(id))!.record.settings;
        for (const key of KEYS) expect(settings).toHaveProperty(key);
        for (const key of missing) expect(settings[key]).toEqual(DEFAULT_SETTINGS[key]);
        expect(ofRollout).toEqual(settings);
        expect(await breachesOf(store)).toEqual([]);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });

  test('keeps its text and its hash: what is completed is never written', async () => {
    const store = await oldRun(KEYS.slice(3));
    const path = join(store.folder, RUN_FILE);
    const text = readFileSync(path, 'utf8');
    const stored = (await store.getRun())!;
    expect(text).toContain(stored.hash);
    await store.putRun(stored.record);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect((await store.getRun())!.hash).toBe(stored.hash);
  });

  test('is read alike by a put, by a get, and from the cache', async () => {
    const store = await oldRun(['logprobs', 'serverLimits']);
    const cached = openFileStore(join(store.folder, '..'), RUN, { cache: openRecordCache() });
    const first = (await cached.getRollout(id))!;
    expect(await cached.getRollout(id)).toEqual(first);
    const again = await cached.putRollout(id, first.record);
    expect(again).toEqual(first);
    expect(first.record.settings).toMatchObject({ logprobs: 'policy', serverLimits: {} });
  });

  test('is found again by the command that made it, and refused to one with another setting', async () => {
    const dataset = join(folder, 'again.jsonl');
    writeFileSync(dataset, '{"question": "1 + 1", "answer": "2"}\n');
    const survey = await surveyDataset({ dataset, limit: null, shuffleSeed: null });
    const wanted = { run: RUN, survey, samples: 1, origins: {} };
    const out = join(folder, 'again');
    const old = without(someSettings(), ['requestTimeoutSeconds', 'fleetPolicy']);
    await createRun(openFileStore(out, RUN), { ...wanted, settings: old });
    const again = await createRun(openFileStore(out, RUN), { ...wanted, settings: someSettings() });
    expect(again.created).toBe(false);
    const other = createRun(openFileStore(out, RUN), {
      ...wanted,
      settings: someSettings({ requestTimeoutSeconds: 5 }),
    });
    await expect(other).rejects.toMatchObject({
      reason: 'run-differs',
      message: expect.stringContaining('requestTimeoutSeconds (3600 there, 5 here)') as string,
    });
  });

  test('that was played with another value than today’s default is a breach, not a match', async () => {
    const store = await oldRun(['turnDiscount']);
    const other = openFileStore(join(folder, 'other'), RUN);
    await putRun(other, [query], { samples: 2, settings: without(someSettings(), ['temperature']) });
    await play(other, { query, settings: someSettings({ temperature: 0.5 }), verdicts: ['wrong', 'wrong', 'wrong'] });
    expect(await breachesOf(store)).toEqual([]);
    expect((await breachesOf(other)).map(({ problem }) => problem)).toEqual(['says temperature 0.5; run.json says 1']);
  });

  test.each([42, 'tiny', [['tiny']], true])(
    'with settings that are none (%j) is named by the check',
    async (settings) => {
      const store = openFileStore(join(folder, `none-${JSON.stringify(settings)}`.replace(/\W/g, '_')), RUN);
      await putRun(store, [query], { settings: settings as never });
      expect(await breachesOf(store)).toContainEqual({
        path: RUN_FILE,
        problem: expect.stringContaining('has no right settings: it should be an object') as string,
      });
    },
  );
});
