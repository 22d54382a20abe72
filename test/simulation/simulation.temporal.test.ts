// A part of `npm run simulate`: the same seeds, the same promises, and the transitions that so few runs reach.

import { readFileSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { openSandbox } from './sandbox.ts';
import { gaps, playShare } from './share.ts';
import { RARE } from './transitions.ts';

const RUNS = process.env['EVERTURN_TESTS'] === 'all' ? 1000 : 300;
/** It is a matter of seconds, but for a machine that is busy with other things. */
const PATIENCE_MS = 600_000;
const FILE = '/workflow-bundle.js';
const code = readFileSync(inject('workflowBundle'), 'utf8');

describe('the simulation', () => {
  test(
    `the workflows keep every promise in ${RUNS} simulated runs, and reach every transition that is not rare`,
    async () => {
      const share = await playShare(openSandbox(code, FILE), { first: 1, last: RUNS });
      expect(share.breaches.map(({ seed, message }) => `npm run simulate -- --seed ${seed}: ${message}`)).toEqual([]);
      const { missed, unknown } = gaps(share);
      expect(unknown).toEqual([]);
      expect(missed.filter((transition) => !RARE.has(transition))).toEqual([]);
    },
    PATIENCE_MS,
  );

  test.each([
    ['a turn is skipped', /(?<=answers = 0; ?; ?turn)\+\+/, ' += 2'],
    ['a rollout in flight is lost with the history', /children\.follow\(state\.inFlight\);/, ''],
  ])(
    'finds, where the workflows are broken on purpose, that %s',
    async (_, from, to) => {
      const broken = code.split(from);
      expect(broken).toHaveLength(2);
      const sandbox = openSandbox(broken.join(to), FILE);
      const { breaches } = await playShare(sandbox, { first: 1, last: 100, mostBreaches: 1 });
      expect(breaches).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});
