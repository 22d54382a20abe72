// The bytes that consumers' own code has read (`npm run test:trainers`), recorded: an export of the same run is the same to
// the byte. RECORD_FORMATS=1 records them again; then test:trainers must be run. Those that Python makes of `rows-texts.jsonl`:
// test/python/exports_test.py.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../../records/file-store.ts';
import { RUN } from '../../records/play.ts';
import { exportAll, someRun } from './some-run.ts';

const recorded = join(import.meta.dirname, '../../fixtures/formats');
const folder = mkdtempSync(join(tmpdir(), 'everturn-recorded-'));
afterAll(() => rmSync(folder, { recursive: true }));

const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();

describe('exports that were read by their consumers', () => {
  test('are the same to the byte', async () => {
    const store = openFileStore(folder, RUN);
    await someRun(store);
    const out = join(folder, 'formats');
    mkdirSync(out);
    await exportAll(store, out);
    if (process.env['RECORD_FORMATS']) {
      rmSync(recorded, { recursive: true, force: true });
      mkdirSync(recorded);
      await exportAll(store, recorded);
    }
    expect(filesOf(out)).toEqual(filesOf(recorded));
    for (const file of filesOf(out))
      expect(readFileSync(join(out, file)).equals(readFileSync(join(recorded, file))), file).toBe(true);
  });
});
