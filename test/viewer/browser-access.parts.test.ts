// Every page can be used by everybody: axe finds nothing serious, light and dark. And the pages of two runs and
// of what is in flight show what the records hold.

import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { makeReport } from '../../viewer/report.ts';
import { play, putRun, RUN } from '../records/play.ts';
import { axeFaults } from './axe.ts';
import { builtPage, NO_BROWSER, openPage, useViewer } from './browser.ts';
import { playEvaluation, TEMPLATE } from './evaluation-rig.ts';
import { QUERIES, type ViewRig } from './rig.ts';
import { describeUnless } from '../support/needs.ts';

/** Two runs that have ended, the second with more right, and one that is still played. */
async function playRuns({ out }: ViewRig): Promise<void> {
  for (const [run, right] of [
    [RUN, 1],
    ['r2', 3],
  ] as const) {
    const store = openFileStore(out, run);
    await putRun(store, QUERIES, { run, samples: 2 });
    for (const [index, query] of QUERIES.entries()) {
      for (const sample of [0, 1]) {
        const good = index < right || (index === right && sample === 0);
        await play(store, { query, index, sample, verdicts: ['wrong', 'wrong', good ? 'right' : 'wrong'] });
      }
    }
  }
  const store = openFileStore(out, 'open');
  await putRun(store, QUERIES, { run: 'open' });
  await play(store, { query: QUERIES[0]!, index: 0, verdicts: ['right', 'right', 'right'] });
  await play(store, { query: QUERIES[1]!, index: 1, verdicts: ['wrong'], stop: null, unjudged: 1 });
}

describeUnless(NO_BROWSER)('the viewer’s pages', () => {
  const decodeLists = (lists: readonly (readonly number[])[]) =>
    Promise.resolve(lists.map((ids) => (ids.length > 3 ? '' : 'it ')));
  const played = (rig: ViewRig) => playRuns(rig).then(() => playEvaluation(rig.out));
  const viewer = useViewer(played, { decoder: { decodeLists } });

  const PAGES: readonly (readonly [string, string, string])[] = [
    ['runs', '#/', '.card'],
    ['a run', `#/run/${RUN}`, 'table.numbers'],
    ['its rollouts', `#/run/${RUN}/rollouts`, '.tr.row a'],
    ['in flight', '#/run/open/live', '.flight tbody tr'],
    ['a rollout', `#/run/${RUN}/q/a1/0`, '.turn'],
    ['tokens', `#/run/${RUN}/q/a1/0/t/1/tok/1`, '.cells'],
    ['two runs', `#/compare/${RUN}/r2`, '.two-by-two'],
    ['several runs', `#/several/${RUN}/r2/open`, 'table.numbers'],
    ['an evaluation', '#/eval/e', 'table.numbers'],
    ['two rollouts side by side', `#/compare/${RUN}/r2/q/a2`, '.sides .turn'],
    ['a search', `#/run/${RUN}/search?f=wrong`, '.hits li'],
  ];
  test.each(PAGES)('%s: axe finds nothing serious, light or dark', async (_, hash, sign) => {
    const seen = await viewer.visit(hash, { reducedMotion: 'reduce' });
    await seen.page.locator(sign).first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await seen.page.emulateMedia({ colorScheme });
      expect(await axeFaults(seen.page)).toEqual([]);
    }
    await seen.close();
  });

  test('a browser without JavaScript is sent to the command line, by the viewer and by a report', async () => {
    const { rig, server, browser } = viewer;
    const file = join(rig.out, 'r.html');
    const { html } = await makeReport({ ...rig, bundle: builtPage() }, RUN, { rollouts: 2, tokens: false });
    writeFileSync(file, html);
    for (const url of [server.url, `file://${file}`]) {
      const seen = await openPage(browser, url, { javaScriptEnabled: false });
      const text = await seen.page.locator('body').innerText();
      expect(text.trim()).toMatch(
        /^This page needs JavaScript, which is off in this browser\. Allow it .*everturn show/s,
      );
      expect(text.trim()).not.toContain('\n');
      await seen.close();
    }
  });

  test('two runs are compared query by query, and a cell of the two by two shows its queries', async () => {
    const seen = await viewer.visit('');
    const { page } = seen;
    await page.getByRole('checkbox', { name: `Choose ${RUN} ` }).check();
    await page.getByRole('checkbox', { name: 'Choose r2' }).check();
    await page.getByRole('link', { name: /^Compare/ }).click();
    await page.goto(`${viewer.server.url}#/compare/${RUN}/r2`);
    await expect.poll(() => page.locator('.two-by-two').innerText()).toMatch(/1\s+Right in both/);
    expect(await page.locator('.two-by-two b').allInnerTexts()).toEqual(['1', '0', '2', '1']);
    expect(await page.locator('.figure b').allInnerTexts()).toEqual(['37.5 %', '87.5 %', '+50.0 points', '0.0917']);
    await page.locator('.two-by-two .only-b').click();
    await expect.poll(() => page.locator('.pairs th a').allInnerTexts()).toEqual(['a3', 'a2']);
    expect(basename(new URL(page.url()).hash)).toBe('only-b');
    await viewer.leave(seen);
  });

  test('an evaluation shows each benchmark, and one click leads from a cell to its wrong answers, from a difference to the pairs', async () => {
    const seen = await viewer.visit('');
    const { page } = seen;
    await page.getByRole('navigation', { name: 'Evaluations' }).getByRole('link', { name: 'e' }).click();
    const sums = page.getByRole('region', { name: /^sums: / });
    await expect.poll(() => sums.locator('tbody tr').allInnerTexts()).toHaveLength(3);
    expect(await sums.locator('tbody tr').first().innerText()).toMatch(/^a\s.*50\.0 %\s.*\s2\s/s);
    const hard = await page.getByRole('region', { name: 'hard', exact: true }).innerText();
    expect(hard).toContain('every rollout failed: scripted');
    expect(hard).toContain('c: There is no run "e-hard-c"');
    const whole = page.getByRole('region', { name: 'sums', exact: true });
    const prompt = whole.locator('details', { hasText: 'prompt template' });
    expect(await prompt.locator('pre').isVisible()).toBe(false);
    await prompt.locator('summary').click();
    expect(await prompt.locator('pre').innerText()).toBe(TEMPLATE);
    await sums.getByRole('link', { name: '2', exact: true }).click();
    await expect.poll(() => page.url()).toContain('/run/e-sums-a/rollouts?f=right%40T%3Ano');
    await expect.poll(() => page.locator('.tr.row').count()).toBe(2);
    await page.goBack();
    await sums.getByRole('link', { name: '+25.0 points' }).click();
    await expect.poll(() => page.locator('.two-by-two').innerText()).toMatch(/1\s+Right in B only/);
    await viewer.leave(seen);
  });

  test('one query of two runs is shown side by side, turn beside turn, and keys lead to the next', async () => {
    const seen = await viewer.visit(`#/compare/${RUN}/r2/only-b`);
    const { page } = seen;
    await page.locator('.pairs').getByRole('link', { name: 'a3', exact: true }).click();
    await expect.poll(() => page.locator('.sides .turn').count()).toBe(6);
    const verdicts = page.locator('.sides .turn .said .verdict');
    const all = ['✗ wrong', '✗ wrong', '✗ wrong', '✗ wrong', '✗ wrong', '✓ right'];
    await expect.poll(() => verdicts.allInnerTexts()).toEqual(all);
    const tops = await page.locator('.sides .turn').evaluateAll((turns) => turns.map((turn) => turn.offsetTop));
    for (const i of [0, 2, 4]) expect(tops[i]).toBe(tops[i + 1]);
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('h1').innerText()).toBe('a2');
    await page.keyboard.press('s');
    await expect.poll(() => page.url()).toContain('/only-b/q/a2/1');
    await expect.poll(() => verdicts.allInnerTexts()).toHaveLength(6);
    await page.keyboard.press('Escape');
    await page.locator('.pairs').waitFor();
    await viewer.leave(seen);
  });

  test('a text is found in what the model was told and in answers, each with a link to its turn', async () => {
    const seen = await viewer.visit(`#/run/${RUN}/search`);
    const { page } = seen;
    await page.locator('input[type=search]').fill('WHAT IS A3');
    await expect.poll(() => page.locator('.hits li').allInnerTexts()).toEqual([expect.stringContaining('What is a3?')]);
    expect(page.url()).toContain('/search?f=WHAT+IS+A3');
    await page.locator('input[type=search]').fill('no such text');
    await expect.poll(() => page.locator('main').innerText()).toContain('It occurs nowhere.');
    await page.goto(`${viewer.server.url}#/run/${RUN}/search?f=it`);
    await page.locator('.hits a').last().click();
    await page.locator('.turn').first().waitFor();
    expect(page.url()).toMatch(/\/q\/a\d\/\d\/t\/\d$/);
    await viewer.leave(seen);
  });
});
