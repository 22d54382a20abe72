// Exports of one run, read by the consumers' own code: consumers.py. A consumer that is not installed is said to be
// skipped; README.md says what each needs. Run by `npm run test:trainers`, not with the other tests.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../../records/file-store.ts';
import { exportAll, someRun } from '../../formats/exports/some-run.ts';
import { RUN } from '../../records/play.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-trainers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const python = process.env['EVERTURN_TRAINERS_PYTHON'] ?? 'python3';

interface Said {
  readonly consumer: string;
  readonly ok?: boolean;
  readonly skipped?: string;
  readonly error?: string;
}

describe('consumers of exports', () => {
  test('read every format with their own code', async () => {
    const store = openFileStore(folder, RUN);
    await someRun(store);
    await exportAll(store, folder);
    const { stdout, stderr } = spawnSync(python, [join(import.meta.dirname, 'consumers.py'), folder], {
      encoding: 'utf8',
      env: { ...process.env, PYTHONPATH: join(import.meta.dirname, '../../../python') },
    });
    const said = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Said] : []));
    for (const one of said) console.log(JSON.stringify(one));
    expect(said.length, stderr).toBeGreaterThan(6);
    expect(said.filter(({ ok }) => ok === false)).toEqual([]);
    expect(said.filter(({ ok }) => ok === true).length, 'no consumer is installed').toBeGreaterThan(0);
  });
});
