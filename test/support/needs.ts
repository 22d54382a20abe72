// Tests that need what not every machine has. Where it lacks, one test stands in their place, skipped with the reason: the
// summary of the run names it.

import { spawnSync } from 'node:child_process';
import { describe, test } from 'vitest';

/** Said where no Python is on PATH. */
export const NO_PYTHON = spawnSync('python3', ['-V']).status === 0 ? undefined : 'no python3 is on PATH';

/** The command of a Python, if there is one. */
export const PYTHON = [process.env['EVERTURN_TEST_PYTHON'], process.env['PYTHON'], 'python3'].find(
  (name) => name && spawnSync(name, ['-c', 'import json']).status === 0,
);

/** `lack`: what is not here; undefined: nothing is missing. */
export function describeUnless(lack: string | undefined): typeof describe {
  if (lack === undefined) return describe;
  const skipped = (name: string) => {
    describe(`${name}`, () => {
      test('is tested', ({ skip }) => skip(lack));
    });
  };
  return skipped as typeof describe;
}
