// python/everturn/rows.py over an export of rows: `test/python/rows_test.py`, with the standard library alone. It
// needs a python3 (EVERTURN_TEST_PYTHON can name one); where none is, the test says so and is skipped.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rows } from '../../../formats/exports/rows.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { RUN } from '../../records/play.ts';
import { someRun } from './some-run.ts';

const python = [process.env['EVERTURN_TEST_PYTHON'], process.env['PYTHON'], 'python3'].find(
  (name) => name && spawnSync(name, ['-c', 'import json']).status === 0,
);
const folder = mkdtempSync(join(tmpdir(), 'everturn-rows-py-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SKIPPED = 'python/everturn/rows.py is not tested: there is no python3 (EVERTURN_TEST_PYTHON can name one)';

const PACKAGE = { ...process.env, PYTHONPATH: join(import.meta.dirname, '../../../python') };

describe('python/everturn/rows.py', () => {
  test('every adapter keeps what its trainer checks', async (context) => {
    if (!python) {
      console.warn(SKIPPED);
      return context.skip(SKIPPED);
    }
    const store = openFileStore(folder, RUN);
    await someRun(store);
    const file = join(folder, 'rows.jsonl');
    await exportRun(store, rows, file);
    const script = join(import.meta.dirname, '../../python/rows_test.py');
    const { status, stderr } = spawnSync(python, [script, file], { encoding: 'utf8', env: PACKAGE });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(/Ran 11 tests[\s\S]*\nOK/) });
  });
});
