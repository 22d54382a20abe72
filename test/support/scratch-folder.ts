// Folders that tests write in, and that go with them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/**
 * Until the tests of the file, or of the group that asks, are over; not for tests and hooks. Hooks run last first: what
 * writes in the folder is closed by a hook that stands below the call.
 */
export const scratchFolder = (): string => folderUntil(afterAll);

/** Until the test is over; for tests and `beforeEach`. */
export const testFolder = (): string => folderUntil(onTestFinished);

function folderUntil(over: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-'));
  over(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
