// New weights for the embedded model by the command line, under a run that goes on: each turn was made by the weights that
// it names, as the model with those weights says.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunStatus } from '../../cli/commands/status.ts';
import type { WeightUpdate } from '../../cli/commands/update-weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { openScorer, otherWeights } from '../real/servers/other-weights.ts';
import { errorBySpans } from '../real/servers/weight-tests.ts';
import { type Everturn, openSharedEverturn } from '../support/everturn.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { until } from '../support/until.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');

let everturn: Everturn;
beforeAll(() => {
  everturn = openSharedEverturn();
});
afterAll(() => everturn?.close());

describe('everturn update-weights on the embedded model', () => {
  test('changes the weights of a run on a CPU, and every turn says which made it', { timeout: 300_000 }, async () => {
    const folder = join(everturn.folder, 'step-7');
    cpSync(otherWeights(), folder, { recursive: true });
    const shape = ['--num-turns', '4', '--max-new-tokens', '64', '--samples', '8', '--max-concurrent', '8'];
    const running = everturn.start('run', DATA, '--name', 'cpu', '--model', 'tiny', '--limit', '30', ...shape);
    const store = openFileStore(join(everturn.folder, 'runs'), 'cpu');
    const turns = async () => {
      let count = 0;
      for await (const { turns: played } of readTrajectories(store)) count += played.length;
      return count;
    };
    await until('some turns were played', async () => (await turns()) >= 10, 120_000);
    const words = ['update-weights', 'cpu', '--from', folder, '--weight-version', '7', '--json'];
    const updated = JSON.parse(await everturn.mustCall(...words)) as WeightUpdate;
    expect(updated).toMatchObject({ state: 'whole', version: 7, servers: [] });
    const before = await turns();
    await until('turns were played after it', async () => (await turns()) > before + 12, 120_000);
    const status = JSON.parse(await everturn.mustCall('status', 'cpu', '--json')) as RunStatus;
    expect(status.weights).toMatchObject({ current: { version: 7, folder }, latest: { state: 'whole' } });
    await everturn.mustCall('cancel', 'cpu');
    await running.ended;
    await everturn.mustCall('check', 'cpu');

    const [first, other] = [await openScorer(TINY_FOLDER), await openScorer(folder)];
    const found = { of: { 0: 0, 7: 0 } as Record<number, number>, worst: 0 };
    for await (const trajectory of readTrajectories(store)) {
      const ids: number[] = [];
      for (const { record } of trajectory.turns) {
        ids.push(...record.contextIds);
        expect(record.versions).toHaveLength(1);
        found.of[record.versionStart] = (found.of[record.versionStart] ?? 0) + 1;
        const total = found.of[record.versionStart]!;
        // A part of them is scored: each costs as much as to generate it.
        if (total <= 10) {
          const error = await errorBySpans(ids, record, (label) => (label === '7' ? other : first));
          found.worst = Math.max(found.worst, error);
        }
        ids.push(...record.outputIds);
      }
    }
    expect(Object.keys(found.of)).toEqual(['0', '7']);
    expect(found.of[0]).toBeGreaterThan(0);
    expect(found.of[7]).toBeGreaterThan(0);
    expect(found.worst).toBeLessThan(1e-3);
  });
});
