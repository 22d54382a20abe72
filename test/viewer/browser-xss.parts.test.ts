// Hostile texts in every field of a run: no page runs one, none asks another host, all are shown as text. 1,000 of them on demand.

import { expect, test } from 'vitest';
import { hrefOf } from '../../viewer/page/route.ts';
import { RUN } from '../records/play.ts';
import { NO_BROWSER, useViewer } from './browser.ts';
import { harm } from './harm.ts';
import { HOSTILE_QUERIES, playHostile } from './hostile-run.ts';
import { PAYLOADS } from './payloads.ts';
import { describeUnless } from '../support/needs.ts';

describeUnless(NO_BROWSER)('hostile texts', () => {
  const viewer = useViewer(({ store }) => playHostile(store));

  test('on the pages of a run stay text', async () => {
    const seen = await viewer.visit('');
    const { page } = seen;
    await page.locator('.card').waitFor();
    expect(await page.locator('.card').innerText()).toContain('<script>');
    for (const hash of [
      '',
      '/rollouts',
      '/rollouts?f=',
      `/rollouts?f=${encodeURIComponent(PAYLOADS[40]!)}&s=-tokens`,
      '/search?f=script',
      '/search?f=%3C',
    ]) {
      await page.goto(`${viewer.server.url}#/run/${RUN}${hash}`);
      const filtered = hash.includes('&s=');
      const list = filtered ? 'text="No rollout is like that."' : '[role=table]';
      const sign = hash === '' ? 'table.numbers' : hash.startsWith('/search') ? '.hits li' : list;
      await page.locator(sign).first().waitFor();
      expect(await harm(seen)).toEqual([]);
    }
    // Down to the last row.
    await page.goto(`${viewer.server.url}#/run/${RUN}/rollouts`);
    await page.locator('.tr.row').first().waitFor();
    const last = page.locator(`[aria-rowindex="${HOSTILE_QUERIES.length}"] a`);
    const down = () => page.locator('.virtual').evaluate((box) => (box.scrollTop = box.scrollHeight));
    await expect.poll(async () => [await down(), await last.count()].at(-1)).toBe(1);
    expect(await harm(seen)).toEqual([]);
    await seen.close();
  });

  test('in rollouts and their tokens harm nothing when they are rendered, and stay text when they are not', async () => {
    const seen = await viewer.visit('');
    const { page } = seen;
    for (const { queryId, prompt } of HOSTILE_QUERIES) {
      const place = { query: queryId, sample: 0, attempt: 1 };
      const route = {
        page: 'rollout',
        run: RUN,
        place,
        turn: null,
        tokens: false,
        token: null,
        filter: '',
        sort: '',
      } as const;
      await page.goto(`${viewer.server.url}${hrefOf(route)}`);
      await page.locator('h1', { hasText: queryId.slice(0, 4) }).waitFor();
      await expect.poll(() => page.locator('h1').textContent()).toBe(queryId);
      await page.locator('.asked.rich').waitFor();
      // An answer is rendered in sight; a call's messages stand before it.
      await page.locator('.answer').first().scrollIntoViewIfNeeded();
      await page.locator('.answer.rich').first().waitFor();
      expect(await harm(seen)).toEqual([]);
      if (prompt.kind === 'text' && !/\p{C}|\u2028/u.test(prompt.text)) {
        await page.keyboard.press('r');
        await expect.poll(() => page.locator('.asked').textContent()).toBe(prompt.text.trim());
        await page.keyboard.press('r');
      }
      await page.goto(`${viewer.server.url}${hrefOf({ ...route, turn: 2, tokens: true, token: 0 })}`);
      await page.locator('.cells').waitFor();
      expect(await harm(seen)).toEqual([]);
    }
    await seen.close();
  });

  test('would be caught: the same page with one text as markup is harmed', async () => {
    const seen = await viewer.visit('');
    await seen.page.locator('.card').waitFor();
    await seen.page.evaluate(`document.body.append(Object.assign(new Image(), { src: 'https://evil.example/x.png' }))`);
    await expect.poll(async () => (await harm(seen)).length).toBeGreaterThan(1);
    await seen.close();
  });
});
