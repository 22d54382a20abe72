// The viewer's page of a training run in a real browser: its curves over the versions of the weights.

import { expect, test } from 'vitest';
import { noCounts } from '../../domain/run/progress.ts';
import { openFileStore } from '../../records/file-store.ts';
import { evaluate, HELD_OUT, TRAIN, trained } from '../records/evaluated.ts';
import { play, putRun } from '../records/play.ts';
import { describeUnless } from '../support/needs.ts';
import { axeFaults } from './axe.ts';
import { NO_BROWSER, useViewer } from './browser.ts';
import { QUERIES } from './rig.ts';

describeUnless(NO_BROWSER)('the curves of a training run', () => {
  const viewer = useViewer();

  test('a training run is shown over its weight versions, with new points while it goes on', async () => {
    const store = openFileStore(viewer.rig.out, 'trained');
    await putRun(store, QUERIES, { run: 'trained', train: TRAIN });
    const add = (index: number, verdicts: readonly ('right' | 'wrong')[], versions: readonly number[]) =>
      play(store, { run: 'trained', query: QUERIES[index]!, index, verdicts, versions });
    await add(0, ['wrong', 'wrong', 'wrong'], [0, 0, 1]);
    await add(1, ['right', 'right', 'right'], [2, 2, 2]);
    await trained(store, [[0, 0]], 2);
    await trained(store, [[1, 1]], 3);
    const seen = await viewer.visit('#/run/trained');
    const curve = (name: string) => seen.page.getByRole('img', { name });
    await curve('staleness: 1.00 at version 0, 0.00 at version 2').waitFor();
    await curve('right at any turn: 0.0 % at version 0, 100.0 % at version 2').waitFor();
    await curve('tokens of an answer: 3 at version 0, 3 at version 2').waitFor();
    await add(2, ['right', 'right', 'right'], [3, 3, 5]);
    await curve('right at any turn: 0.0 % at version 0, 100.0 % at version 3').waitFor();
    // Trained with version 5.
    await trained(store, [[2, 2]], 6);
    await curve('staleness: 1.00 at version 0, 2.00 at version 3').waitFor();
    await viewer.leave(seen);
  });

  test('held-out evaluations are a curve whose points lead to their runs, new ones while the run goes on', async () => {
    const store = openFileStore(viewer.rig.out, 'held');
    await putRun(store, QUERIES, { run: 'held', evaluation: HELD_OUT });
    await evaluate(viewer.rig.out, { run: 'held', version: 0 }, ['right', 'wrong', 'wrong', 'wrong']);
    const seen = await viewer.visit('#/run/held');
    const { page } = seen;
    const curve = (name: string) => page.getByRole('group', { name });
    await curve('right, held out: 25.0 % at version 0, 25.0 % at version 0').waitFor();
    await evaluate(viewer.rig.out, { run: 'held', version: 2, open: true }, ['right', 'right', 'right', 'wrong']);
    await page.getByText('Version 2 is being evaluated by held-eval-v2, on 4 held-out rollouts').waitFor();
    const evaluation = { run: 'held-eval-v2', total: 4, cancelled: false, numTurns: 3, counts: noCounts() };
    await openFileStore(`${viewer.rig.out}/held-eval`, 'held-eval-v2').put('result', null, evaluation);
    await curve('right, held out: 25.0 % at version 0, 75.0 % at version 2').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'version 2: 75.0 %, 4 rollouts' }).click();
    await page.getByRole('heading', { name: 'held-eval-v2' }).waitFor();
    await expect.poll(() => page.locator('.figure', { hasText: 'right at any turn' }).innerText()).toContain('75.0 %');
    await page.goBack();
    await page.getByRole('link', { name: 'Everturn' }).click();
    await page.getByRole('link', { name: 'held', exact: true }).waitFor();
    expect(await page.getByText('held-eval').count()).toBe(0);
    await viewer.leave(seen);
  });
});
