// Tests that need what not every machine has. Where it lacks, one test stands in their place, skipped with the reason: the
// summary of the run names it.

import { spawnSync } from 'node:child_process';
import { describe, test } from 'vitest';

/** Said where no Python is on PATH. */
export const NO_PYTHON = spawnSync('python3', ['-V']).status === 0 ? undefined : 'no python3 is on PATH';

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
