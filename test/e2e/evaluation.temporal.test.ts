// A training run of the command line with held-out rows, on the shipped model with weights that really change: the worker is
// killed, and a later version is published, while one is evaluated.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evaluation } from '../../viewer/model/messages.ts';
import { otherWeights } from '../real/servers/other-weights.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { trainWithHeldOut } from '../support/held-out.ts';
import { jsonLines } from '../support/json-lines.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { until } from '../support/until.ts';

const HELD = 20;

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn();
});
afterAll(() => everturn?.close());

describe('everturn run --train --eval', () => {
  test(
    'plays each held-out row once by the version, whatever is killed, and leases none',
    { timeout: 600_000 },
    async () => {
      const folders = [join(everturn.folder, 'step-1'), join(everturn.folder, 'step-2')] as const;
      cpSync(otherWeights(), folders[0], { recursive: true });
      cpSync(TINY_FOLDER, folders[1], { recursive: true });
      const { step, turnsOf, isEvaluated, errorOf } = await trainWithHeldOut(everturn, HELD);
      await step(1, folders[0]);
      const name = 'first-eval-line1-v1';
      await until('a tenth is answered', async () => (await turnsOf(name)).length >= HELD / 10, 120_000);
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      expect(await isEvaluated(name)()).toBe(false);
      await step(2, folders[1]);
      for (const one of ['first-eval-v0', name, 'first-eval-line1-v2'])
        await until(`${one} has ended`, isEvaluated(one), 240_000);

      const turns = await turnsOf(name);
      expect(new Set(turns.map(({ query }) => query)).size).toBe(HELD);
      expect(turns).toHaveLength(HELD);
      expect(turns.every(({ outcome, label }) => outcome === 'complete' && label === 'line1:v1')).toBe(true);
      expect(await errorOf(name, folders[0])).toBeLessThan(1e-3);

      const stats = JSON.parse(await everturn.mustCall('stats', 'first', '--json')) as { evaluations: Evaluation[] };
      expect(stats.evaluations).toMatchObject(
        ['first-eval-v0', name, 'first-eval-line1-v2'].map((run, version) => ({
          ...{ run, version, state: 'ended', total: HELD, rollouts: HELD, answeredBy: [version, version] },
        })),
      );
      for (const run of ['first-eval-v0', name, 'first-eval-line1-v2']) await everturn.mustCall('check', run);
      await everturn.mustCall('cancel', 'first');
      const lines = jsonLines<{ version: number; eval?: Evaluation }>(await everturn.mustCall('log', 'first'));
      expect(lines.map(({ version, eval: found }) => [version, found?.rollouts])).toEqual(
        [0, 1, 2].map((v) => [v, HELD]),
      );
    },
  );
});
