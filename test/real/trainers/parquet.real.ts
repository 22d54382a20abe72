// Parquet of two runs, a rollout a row and a turn a row, as pandas, pyarrow, DuckDB and `datasets` read it:
// parquet_readers.py. One that is not installed is said to be skipped. Run by `npm run test:trainers`.

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

const folder = mkdtempSync(join(tmpdir(), 'everturn-parquet-'));
afterAll(() => rmSync(folder, { recursive: true }));
const python = process.env['EVERTURN_TRAINERS_PYTHON'] ?? 'python3';

interface Said {
  readonly reader: string;
  readonly ok?: boolean;
  readonly skipped?: string;
  readonly error?: string;
}

describe('Parquet, a rollout a row and a turn a row', () => {
  test('has the values of the JSON lines in every reader, to the bit', async (context) => {
    const some = openFileStore(join(folder, 'some'), RUN);
    await someRun(some);
    await exportAll(some, folder);
    const odd = openFileStore(join(folder, 'odd'), RUN);
    await oddRun(odd);
    await exportTurns(odd, join(folder, 'odd-turns'));
    await exportRun(odd, exporterNamed('rows'), join(folder, 'odd-rows.jsonl'));
    await exportRun(odd, exporterNamed('parquet'), join(folder, 'odd-rows.parquet'));
    const { stdout, stderr } = spawnSync(python, [join(import.meta.dirname, 'parquet_readers.py'), folder], {
      encoding: 'utf8',
    });
    const said = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Said] : []));
    for (const one of said) console.log(JSON.stringify(one));
    expect(said.length, stderr).toBe(5);
    expect(said.filter(({ ok }) => ok === false)).toEqual([]);
    const skipped = said.filter((one) => one.skipped !== undefined);
    if (skipped.length === 4) context.skip('no reader of Parquet is installed for Python');
  });
});
