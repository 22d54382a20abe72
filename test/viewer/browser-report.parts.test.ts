// A report in a real browser, opened from disk without a network: its numbers are the run's, it says what it leaves out,
// hostile texts stay text, and it prints as a whole.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hrefOf } from '../../viewer/page/route.ts';
import { makeReport, type ReportOptions } from '../../viewer/report.ts';
import { openFileStore } from '../../records/file-store.ts';
import { play, putRun, RUN } from '../records/play.ts';
import { builtPage, launch, NO_BROWSER, openPage } from './browser.ts';
import { playEvaluation } from './evaluation-rig.ts';
import { harm } from './harm.ts';
import { HOSTILE_QUERIES, playHostile } from './hostile-run.ts';
import { playSome, type ViewRig, viewRig } from './rig.ts';
import { describeUnless } from '../support/needs.ts';

const OTHER = 'other';

describeUnless(NO_BROWSER)('a report in a browser', () => {
  const rigs: ViewRig[] = [];
  let browser: Browser;
  beforeAll(async () => void (browser = await launch()));
  afterAll(async () => {
    await browser?.close();
    for (const rig of rigs) await rig.close();
  });

  async function reportOf(play: (rig: ViewRig) => Promise<void>, options: Partial<ReportOptions> = {}) {
    const rig = await viewRig();
    rigs.push(rig);
    await play(rig);
    const made = await makeReport({ ...rig, bundle: builtPage() }, RUN, { rollouts: 200, tokens: false, ...options });
    const file = join(rig.out, 'report.html');
    writeFileSync(file, made.html);
    return { ...made, url: pathToFileURL(file).href };
  }

  /** A second run of the same queries, with other verdicts. */
  async function playOther({ out }: ViewRig): Promise<void> {
    const store = openFileStore(out, OTHER);
    const queries = HOSTILE_QUERIES.slice(0, 3);
    await putRun(store, queries, { run: OTHER });
    for (const [index, query] of queries.entries())
      await play(store, { run: OTHER, query, index, verdicts: ['wrong', 'wrong'] });
  }

  test('shows the run’s numbers and turns from disk, with the network off', async () => {
    const { url } = await reportOf(({ store }) => playSome(store), { tokens: true });
    const seen = await openPage(browser, url, { offline: true });
    const { page } = seen;
    // It opens on the run that it is about.
    await page.locator('table.numbers').waitFor();
    expect(await page.locator('table.numbers tbody tr').nth(1).innerText()).toMatch(/2\s+2\s+1\s+1\s+50\.0 %/);
    await page.goto(`${url}#/run/${RUN}/rollouts?f=right%401%3Ano`);
    await expect.poll(() => page.locator('.tr.row').count()).toBe(2);
    await page.goto(`${url}#/run/${RUN}/q/a2/0`);
    await page.locator('.turn').nth(2).waitFor();
    expect(await page.locator('.turn .verdict').allInnerTexts()).toEqual(['✓ right', '✗ wrong', '✓ right']);
    await page.goto(`${url}#/run/${RUN}/q/a2/0/t/1/tok/1`);
    await expect.poll(() => page.locator('.detail').innerText()).toContain('-1.500000');
    expect(await harm(seen)).toEqual([]);
    await seen.close();
  });

  test('says what it leaves out', async () => {
    const { url, rollouts, left } = await reportOf(({ store }) => playSome(store), { rollouts: 1 });
    expect(rollouts).toBe(1);
    expect(left.join()).toMatch(/the turns of 2 of 3 rollouts.*still open.*tokens and their logprobs/);
    const seen = await openPage(browser, `${url}#/run/${RUN}`);
    expect(await seen.page.locator('.left').innerText()).toContain('the turns of 2 of 3 rollouts');
    // The failed one is in it.
    await seen.page.goto(`${url}#/run/${RUN}/q/a3/0`);
    await seen.page.locator('.turn').waitFor();
    await seen.page.goto(`${url}#/run/${RUN}/q/a1/0`);
    await expect.poll(() => seen.page.getByRole('alert').innerText()).toContain('not in this report');
    await seen.close();
  });

  test('holds hostile texts as text, and lets nothing out', async () => {
    const { url, html } = await reportOf(({ store }) => playHostile(store), { tokens: true });
    expect(html.match(/<script\b/g)).toHaveLength(2);
    const seen = await openPage(browser, `${url}#/run/${RUN}`);
    const { page } = seen;
    await page.locator('table.numbers').waitFor();
    for (const { queryId } of HOSTILE_QUERIES) {
      const place = { query: queryId, sample: 0, attempt: 1 };
      const list = { filter: '', sort: '' };
      await page.goto(
        `${url}${hrefOf({ page: 'rollout', run: RUN, place, turn: 2, tokens: true, token: 0, ...list })}`,
      );
      await expect.poll(() => page.locator('h1').textContent()).toBe(queryId);
      await page.locator('.cells').waitFor();
      expect(await harm(seen)).toEqual([]);
    }
    expect(await page.evaluate(`fetch('https://evil.example/').then(() => 'sent', () => 'refused')`)).toBe('refused');
    await seen.close();
  });

  test('compares two runs, with links to the rollouts of both', async () => {
    const { url, left } = await reportOf(
      async (rig) => {
        await playHostile(rig.store);
        await playOther(rig);
      },
      { compare: OTHER },
    );
    expect(left.join()).not.toContain('comparison');
    const seen = await openPage(browser, url, { offline: true });
    const { page } = seen;
    // It opens on the comparison.
    await page.locator('.two-by-two').waitFor();
    expect(await page.locator('.head').innerText()).toContain('2 queries with the same text in both');
    await page.locator('.pairs a').last().click();
    await page.locator('.turn').nth(1).waitFor();
    expect(await page.locator('h1').textContent()).toBe(HOSTILE_QUERIES[2]!.queryId);
    expect(page.url()).toContain(`#/run/${OTHER}/`);
    await page.goto(`${url}#/compare/${OTHER}/${RUN}`);
    await expect.poll(() => page.getByRole('alert').innerText()).toContain(`compares ${RUN} with ${OTHER}`);
    expect(await harm(seen)).toEqual([]);
    await seen.close();
  });

  test('shows an evaluation, and behind its counts the wrong answers of a run', async () => {
    const rig = await viewRig();
    rigs.push(rig);
    await playEvaluation(rig.out);
    const options = { rollouts: 10, tokens: false, isEvaluation: true } as const;
    const { html, left, rollouts } = await makeReport({ ...rig, bundle: builtPage() }, 'e', options);
    expect([rollouts, left[0]]).toEqual([6, expect.stringContaining('the turns of 6 of 12 rollouts')]);
    const file = join(rig.out, 'e.html');
    writeFileSync(file, html);
    const seen = await openPage(browser, pathToFileURL(file).href, { offline: true });
    const { page } = seen;
    // It opens on the evaluation.
    const sums = page.getByRole('region', { name: /^sums: / });
    await expect.poll(() => sums.locator('tbody tr').allInnerTexts()).toHaveLength(3);
    await sums.getByRole('link', { name: '2', exact: true }).click();
    await expect.poll(() => page.locator('.tr.row').count()).toBe(2);
    await page.locator('.tr.row a').first().click();
    await page.locator('.turn').first().waitFor();
    expect(await harm(seen)).toEqual([]);
    await seen.close();
  });
});
