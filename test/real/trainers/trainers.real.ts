// Exports of one run, read by the consumers' own code: consumers.py. A consumer that is not installed is said to be
// skipped; README.md says what each needs. Run by `npm run test:trainers`, not with the other tests.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { exporterNamed } from '../../../formats/exports/index.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { oddRun } from '../../formats/exports/odd-run.ts';
import { exportAll, exportTurns, someRun } from '../../formats/exports/some-run.ts';
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
    const odd = openFileStore(join(folder, 'odd'), RUN);
    await oddRun(odd);
    await exportTurns(odd, join(folder, 'odd-turns'));
    await exportRun(odd, exporterNamed('rows'), join(folder, 'odd-rows.jsonl'));
    await exportRun(odd, exporterNamed('parquet'), join(folder, 'odd-rows.parquet'));
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
