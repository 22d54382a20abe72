// Tests that need what not every machine has. Where it lacks, one test stands in their place, skipped with the reason: the
// summary of the run names it.

import { describe, test } from 'vitest';

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
