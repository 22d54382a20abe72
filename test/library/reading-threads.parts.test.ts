// Runs read by several threads: a check and an export say the same as without threads, of sound runs and of damaged ones, and
// also where the threads fail.

import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Beginning, openReadingThreads, type ReadingThreads } from '../../library/reading-threads.ts';
import { exporterNamed } from '../../formats/exports/index.ts';
import { checkRun } from '../../records/check/check.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { SkippedRollout } from '../../records/export/selection.ts';
import { makeRun } from '../bench/ended-rig.ts';
import { folderDamage } from '../records/check/damage.ts';
import { playGoodRun } from '../records/check/good-run.ts';
import { endAll } from '../records/ended-rig.ts';
import { RUN } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const MANY = 100;
const root = scratchFolder();
beforeAll(async () => {
  await playGoodRun(join(root, 'loose'));
  cpSync(join(root, 'loose'), join(root, 'ended'), { recursive: true });
  await endAll(join(root, 'ended'));
  // Several parts.
  await makeRun(join(root, 'many'), MANY);
});

async function withThreads<T>(
  out: string,
  part: Partial<Beginning>,
  use: (parts: ReadingThreads) => Promise<T>,
): Promise<T> {
  const store = openFileStore(out, RUN);
  const selection = { undecided: 'finished-turns' } as const;
  const beginning = { out, run: RUN, format: 'areal', layout: 'rollout', selection, ...part } as const;
  const parts = await openReadingThreads(store, beginning, { least: 0, threads: 2 });
  return use(parts!).finally(() => parts!.close());
}

async function checked(out: string, elsewhere?: ReadingThreads) {
  const breaches: string[] = [];
  const summary = await checkRun(openFileStore(out, RUN), ({ path, problem }) => breaches.push(`${path}: ${problem}`), {
    export: { exporter: exporterNamed('areal'), undecided: 'finished-turns' },
    everturn: everturnVersion(),
    clockSkewMs: 5000,
    elsewhere,
  });
  return { breaches, summary };
}

const check = { cwd: root, tokenizer: false, clockSkewMs: 5000, exports: true } as const;

describe('a run that is read by threads', () => {
  test.each(['loose', 'ended', 'many'])('has the same proof: %s', async (which) => {
    const out = join(root, which);
    const alone = await checked(out);
    expect(alone.breaches).toEqual([]);
    expect(alone.summary.rollouts).toBeGreaterThan(8);
    expect(await withThreads(out, { check }, (parts) => checked(out, parts))).toEqual(alone);
  });

  test('has the same breaches in the same order, whatever is damaged', async () => {
    const some = Object.entries(folderDamage).filter((_, i) => i % 9 === 0);
    expect(some.length).toBeGreaterThanOrEqual(4);
    for (const [name, { change }] of some) {
      const out = mkdtempSync(join(root, 'damaged-'));
      cpSync(join(root, 'loose'), out, { recursive: true });
      change(join(out, RUN));
      const alone = await checked(out);
      expect(alone.breaches, name).not.toEqual([]);
      expect(await withThreads(out, { check }, (parts) => checked(out, parts)), name).toEqual(alone);
    }
  });

  test.each(['areal', 'rows'])('has the same export, and names the same rest: %s', async (format) => {
    const out = join(root, 'ended');
    const made = async (name: string, elsewhere?: ReadingThreads) => {
      const skipped: SkippedRollout[] = [];
      const file = join(root, `${name}.${format}`);
      const options = { undecided: 'drop', onSkip: (one: SkippedRollout) => skipped.push(one) } as const;
      const store = openFileStore(out, RUN);
      const summary = await exportRun(store, exporterNamed(format), file, { ...options, elsewhere });
      return { summary, skipped, text: readFileSync(file, 'utf8') };
    };
    const alone = await made('alone');
    expect(alone.summary.exported + alone.skipped.length).toBe(8);
    expect(alone.skipped).not.toEqual([]);
    expect(await withThreads(out, { format, selection: {} }, (parts) => made('threads', parts))).toEqual(alone);
  });

  test.each(['areal', 'rows', 'parquet', 'parquet-turns'])('has the same file: %s', async (format) => {
    const made = async (out: string, elsewhere?: ReadingThreads) => {
      const file = join(root, `made.${format}`);
      await exportRun(openFileStore(out, RUN), exporterNamed(format), file, { elsewhere });
      return readFileSync(file);
    };
    for (const out of ['ended', 'many'].map((which) => join(root, which))) {
      const alone = await made(out);
      expect(alone.length).toBeGreaterThan(1000);
      expect((await withThreads(out, { format, selection: {} }, (parts) => made(out, parts))).equals(alone)).toBe(true);
    }
  });

  test('is read by the command itself where the threads fail', async () => {
    const out = join(root, 'ended');
    const alone = await checked(out);
    // Without a proof to make, each part fails.
    expect(await withThreads(out, {}, (parts) => checked(out, parts))).toEqual(alone);
    const after = await withThreads(out, { check }, async (parts) => {
      await parts.close();
      return checked(out, parts);
    });
    expect(after).toEqual(alone);
  });

  test('has no threads if it is small', async () => {
    const store = openFileStore(join(root, 'ended'), RUN);
    const beginning = { out: root, run: RUN, format: 'areal', layout: 'rollout', selection: {} } as const;
    expect(await openReadingThreads(store, beginning, { threads: 2 })).toBeUndefined();
    expect(await openReadingThreads(store, beginning, { least: 0, threads: 1 })).toBeUndefined();
  });
});
