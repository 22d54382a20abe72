// Ended rollouts in the viewer: every message of their lines is the one that their files give, also where they end while
// it is open.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApi } from '../../viewer/api.ts';
import { rowKey } from '../../viewer/model/row.ts';
import { openRuns } from '../../viewer/runs.ts';
import { again, endAll } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { open, QUERIES, SCRIPTS, type ViewRig, viewRig } from './rig.ts';

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

/** Without the age of its newest file. */
const settled = (row: object) => ({ ...row, doing: undefined });

/** Everything that the pages ask for, from a viewer that was just opened. */
async function everything() {
  const runs = openRuns(rig.out);
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

  test('that end while the viewer is open stays as it was', async () => {
    const loose = await everything();
    const before = await rig.api.rows(RUN, ALL, 0, 3);
    await endAll(rig.out);
    const { index } = await rig.runs.open(RUN);
    await index.refresh();
    const after = await rig.api.rows(RUN, ALL, 0, 100);
    expect(after.rows.map(settled)).toEqual(loose.rows.map(settled));
    expect(after.count).toBe(before.count);
    for (const row of after.rows) expect((await rig.api.rollout(RUN, row, ALL)).turns.length).toBeGreaterThan(0);
  });

  test('names no rollout twice, and those that begin and end between two looks', async () => {
    await endAll(rig.out);
    await open(rig.store, 3, { sample: 1, verdicts: ['right'] });
    const { index } = await rig.runs.open(RUN);
    await index.refresh();
    await play(again(rig.out), { query: QUERIES[3]!, index: 3, sample: 1, attempt: 2, verdicts: ['right'] });
    await index.refresh();
    expect(new Set(index.rows().map(rowKey)).size).toBe(11);
    expect(index.rows()).toHaveLength(11);
    const { rows } = await everything();
    expect(new Set(rows.map(rowKey)).size).toBe(11);
  });
});
