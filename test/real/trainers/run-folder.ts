// A folder with runs of the built command line, in a home of its own, and a Python that has a trainer's packages. The folder goes,
// and its service ends, with the tests of the file.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const ROOT = join(import.meta.dirname, '../../..');
export const CLI = join(ROOT, 'dist/cli/index.js');
export const PYTHON = process.env['EVERTURN_TRAINERS_PYTHON'] ?? 'python3';

export function openRunFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-trainers-'));
  const env = { ...process.env, EVERTURN_HOME: join(folder, 'home'), PYTHONPATH: join(ROOT, 'python') };
  const call = (command: string, ...args: readonly string[]) =>
    spawnSync(command, args, { cwd: folder, env, encoding: 'utf8', timeout: 500_000 });
  const everturn = (...args: readonly string[]) => call(process.execPath, CLI, ...args);
  afterAll(() => {
    everturn('down');
    rmSync(folder, { recursive: true });
  });
  return { folder, env, call, everturn };
}
