// A hundredth of `npm run simulate`: the same seeds, the same promises, and the transitions that so few runs reach.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { MUTANTS, seedsToFind } from './mutants.ts';
import { openSandbox } from './sandbox.ts';
import { gaps, playShare } from './share.ts';
import { RARE } from './transitions.ts';

const RUNS = 1000;
/** It is a matter of seconds, but for a machine that is busy with other things. */
const PATIENCE_MS = 600_000;
const ROOT = join(import.meta.dirname, '../..');

describe('the simulation', () => {
  test(
    `the workflows keep every promise in ${RUNS} simulated runs, and reach every transition that is not rare`,
    async () => {
      const code = readFileSync(inject('workflowBundle'), 'utf8');
      const share = await playShare(openSandbox(code, '/workflow-bundle.js'), { first: 1, last: RUNS, step: 1 });
      expect(share.breaches.map(({ seed, message }) => `npm run simulate -- --seed ${seed}: ${message}`)).toEqual([]);
      const { missed, unknown } = gaps(share);
      expect(unknown).toEqual([]);
      expect(missed.filter((transition) => !RARE.has(transition))).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    'the simulator finds a mutant of each workflow within a few seeds',
    async () => {
      for (const name of ['a turn is skipped', 'a rollout in flight is lost with the history']) {
        const found = await seedsToFind(
          ROOT,
          MUTANTS.find((mutant) => mutant.name === name)!,
        );
        expect(found?.seeds, name).toBeLessThan(500);
      }
    },
    PATIENCE_MS,
  );

  test('every mutant still breaks one place of the source', () => {
    expect(new Set(MUTANTS.map(({ alteration: { file, from } }) => `${file} ${from}`)).size).toBeGreaterThan(30);
    for (const { name, alteration } of MUTANTS) {
      expect(readFileSync(join(ROOT, alteration.file), 'utf8').split(alteration.from), name).toHaveLength(2);
    }
  });
});
