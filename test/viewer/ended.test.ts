// Ended rollouts in the viewer: every message of their lines is the one that their files give. Those that end while it is open:
// records/growing-run.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noCounts } from '../../domain/run/progress.ts';
import { createApi } from '../../viewer/api.ts';
import { endAll } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { open, QUERIES, SCRIPTS, type ViewRig, viewRig, wholeRuns } from './rig.ts';

let rig: ViewRig;
beforeEach(async () => {
  rig = await viewRig();
  await putRun(rig.store, QUERIES, { samples: 2 });
  for (const [index, script] of SCRIPTS.entries())
    for (const sample of [0, 1])
      await play(rig.store, { query: QUERIES[index]!, index, sample, ...script, ...(sample === 1 && { said: [2] }) });
  await play(rig.store, {
    query: QUERIES[2]!,
    index: 2,
    attempt: 2,
    verdicts: ['right', 'undecided'],
    stop: 'undecided',
  });
  await play(rig.store, { query: aQuery('Own Question? é'), index: null, verdicts: ['right'] });
  await open(rig.store, 3, { verdicts: ['wrong'] });
});
afterEach(() => rig.close());

const ALL = { filter: '', sort: '' };

/** Everything that the pages ask for, from a viewer that was just opened. */
async function everything() {
  const runs = wholeRuns(rig.out);
  const api = createApi({ runs, decoderOf: () => Promise.resolve('none'), now: () => 1_700_000_100_000 });
  const { rows } = await api.rows(RUN, ALL, 0, 100);
  const run = { ...(await api.run(RUN)), newsAt: null, progress: null };
  const rollouts = [];
  for (const row of rows) rollouts.push(await api.rollout(RUN, row, ALL), await api.tokens(RUN, row, 1));
  runs.close();
  return {
    rows: rows.map(({ doing, ...row }) => ({ ...row, doing: doing?.what })),
    run,
    rollouts: JSON.parse(
      JSON.stringify(rollouts, (key, value: unknown) => (key === 'doing' ? undefined : value)),
    ) as unknown,
  };
}

describe('a run of ended rollouts', () => {
  test('is shown as its files are: rows, numbers, turns and tokens', async () => {
    const loose = await everything();
    expect(loose.rows).toHaveLength(9);
    await endAll(rig.out);
    expect(await everything()).toEqual(loose);
  });

  test('says that its rollouts are missing, where they are', async () => {
    const counts = { ...noCounts(), outcomes: { ...noCounts().outcomes, complete: 9 } };
    await rig.store.put('result', null, { run: RUN, total: 9, cancelled: false, numTurns: 3, counts });
    expect((await everything()).run).not.toHaveProperty('progress.problem');
    const runs = wholeRuns(rig.out);
    const api = createApi({ runs, decoderOf: () => Promise.resolve('none'), now: () => 1_700_000_100_000 });
    rmSync(join(rig.store.folder, 'rollouts'), { recursive: true });
    expect((await api.run(RUN)).progress.problem).toContain('no rollout: a part of rollouts/ or ended/ is missing');
    runs.close();
  });
});
