// A folder for the tests of a file, which goes when they are over.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
