// A hundredth of `npm run simulate`: the same seeds, the same promises, and the transitions that so few runs reach.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { bundle } from './bundle.ts';
import { MUTANTS, seedsToFind } from './mutants.ts';
import { openSandbox } from './sandbox.ts';
import { gaps, playShare } from './share.ts';
import { RARE } from './transitions.ts';

const RUNS = 1000;
const ROOT = join(import.meta.dirname, '../..');

test(`the workflows keep every promise in ${RUNS} simulated runs, and reach every transition that is not rare`, async () => {
  const code = readFileSync(inject('workflowBundle'), 'utf8');
  const share = await playShare(openSandbox(code, '/workflow-bundle.js'), { first: 1, last: RUNS, step: 1 });
  expect(share.breaches.map(({ seed, message }) => `npm run simulate -- --seed ${seed}: ${message}`)).toEqual([]);
  const { missed, unknown } = gaps(share);
  expect(unknown).toEqual([]);
  expect(missed.filter((transition) => !RARE.has(transition))).toEqual([]);
});

test('the simulator finds a mutant of each workflow within a few seeds', async () => {
  for (const name of ['a turn is skipped', 'a rollout in flight is lost with the history']) {
    const found = await seedsToFind(
      ROOT,
      MUTANTS.find((mutant) => mutant.name === name)!,
    );
    expect(found?.seeds, name).toBeLessThan(500);
  }
});

test('every mutant still breaks one place of the source', async () => {
  const places = new Set(MUTANTS.map(({ patch }) => `${patch.file} ${patch.find}`));
  expect(places.size).toBeGreaterThan(30);
  for (const { name, patch } of MUTANTS) {
    expect(readFileSync(join(ROOT, patch.file), 'utf8').split(patch.find), name).toHaveLength(2);
  }
  await expect(bundle(ROOT, [{ file: 'workflows/rollout.ts', find: 'no such place', put: '' }])).rejects.toThrow(
    'exactly once',
  );
});
