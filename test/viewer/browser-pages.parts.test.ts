// The viewer's pages in a real browser: what they show, their keys, their addresses, and that they update themselves.

import { expect, test } from 'vitest';
import { NO_RECHECKS } from '../../domain/run/server-status.ts';
import { writeFleetReport } from '../../records/run/fleet-status.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN, withRecords } from '../records/play.ts';
import { NO_BROWSER, openPage, useViewer } from './browser.ts';
import { open, playSome, QUERIES } from './rig.ts';
import { describeUnless } from '../support/needs.ts';

describeUnless(NO_BROWSER)('the viewer in a browser', () => {
  // One token per letter.
  const textOf = (ids: readonly number[]) =>
    ids.map((id) => (id === 7 ? 'is ' : id === 1 ? '</s>' : id < 10 ? 'it ' : '#')).join('');
  const decoder = { decodeLists: (lists: readonly (readonly number[])[]) => Promise.resolve(lists.map(textOf)) };
  const viewer = useViewer(({ store }) => playSome(store), { decoder });
  const { visit, leave } = viewer;

  test('leads from the runs to a run, its rollouts, and one of them', async () => {
    const seen = await visit('');
    const { page } = seen;
    await page.getByRole('link', { name: RUN }).click();
    await page.getByRole('heading', { name: RUN }).waitFor();
    const turns = page.locator('table.numbers tbody tr');
    await expect.poll(() => turns.count()).toBe(3);
    await expect.poll(() => turns.nth(1).innerText()).toMatch(/2\s+2\s+1\s+1\s+50\.0 %/);
    await page.getByRole('link', { name: /Rollouts/ }).click();
    await page.getByRole('link', { name: 'a2' }).click();
    await page.getByRole('heading', { name: 'Turn 3' }).waitFor();
    expect(await page.locator('.turn .verdict').allInnerTexts()).toEqual(['✓ right', '✗ wrong', '✓ right']);
    expect(await page.title()).toBe(`a2 · ${RUN} · Everturn`);
    await page.goBack();
    await page.getByRole('link', { name: 'a1' }).waitFor();
    await leave(seen);
  });

  test('filters as one types, puts the filter into the address, and says what it cannot read', async () => {
    const seen = await visit(`#/run/${RUN}/rollouts`);
    const { page } = seen;
    await page.locator('.tr.row').nth(2).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('right@1:no');
    await expect.poll(() => page.locator('.tr.row').count()).toBe(2);
    expect(page.url()).toContain('?f=right%401%3Ano');
    const again = await openPage(viewer.browser, page.url());
    await expect.poll(() => again.page.locator('.tr.row').count()).toBe(2);
    await again.close();
    await page.locator('input[type=search]').fill('colour:red');
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('there is no fact `colour`');
    await leave(seen);
  });

  test('is walked by keys alone', async () => {
    const seen = await visit(`#/run/${RUN}/rollouts`);
    const { page } = seen;
    await page.locator('.tr.row').nth(2).waitFor();
    // Each key finds the page that the one before has drawn, as a person's does.
    for (const key of ['j', 'j', 'Enter']) {
      await page.waitForTimeout(400);
      await page.keyboard.press(key);
    }
    const at = async (pattern: RegExp) => {
      await expect.poll(() => page.url()).toMatch(pattern);
    };
    await at(/\/q\/a2\/0$/);
    await page.locator('.turn').nth(2).waitFor();
    await page.keyboard.press('j');
    await at(/\/q\/a3\/0$/);
    await page.getByRole('heading', { name: 'a3' }).waitFor();
    await page.keyboard.press('k');
    await page.locator('.turn').nth(2).waitFor();
    for (const key of ['n', 'n']) await page.keyboard.press(key);
    await at(/\/q\/a2\/0\/t\/2$/);
    await page.keyboard.press('t');
    await page.locator('[data-cell="2"]').waitFor();
    for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await at(/\/t\/2\/tok\/1$/);
    await page.keyboard.press('Escape');
    await at(/\/t\/2$/);
    await page.keyboard.press('Escape');
    await at(/\/rollouts$/);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('d');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await leave(seen);
  });

  test('shows each token with its exact numbers, from the address alone', async () => {
    const seen = await visit(`#/run/${RUN}/q/a1/0/t/2/tok/1`);
    const { page } = seen;
    const detail = page.locator('.detail');
    await expect.poll(() => detail.innerText()).toContain('-1.500000');
    const text = await detail.innerText();
    expect(text).toMatch(/id\s+7\b/);
    expect(text).toMatch(/probability\s+22\.3 %/);
    expect(text).toMatch(/surprise\s+rank 1 of 3/);
    expect(text).toMatch(/in the answer\s+2 of 3/);
    await page.getByRole('button', { name: 'weight version' }).click();
    expect(await page.locator('[data-cell="0"]').getAttribute('class')).toContain('v0');
    await leave(seen);
  });

  test('compares from a rollout: c leads to the choice of the other run, and from there to that query', async () => {
    const other = openFileStore(viewer.rig.out, 'other');
    await putRun(other, QUERIES, { run: 'other' });
    await play(other, { run: 'other', query: QUERIES[0]!, index: 0, verdicts: ['wrong', 'wrong', 'wrong'] });
    const seen = await visit(`#/run/${RUN}/q/a1/0`);
    const { page } = seen;
    await page.locator('.turn').nth(2).waitFor();
    await page.keyboard.press('c');
    await expect.poll(() => page.locator('.head').innerText()).toContain(`Choose the run to compare ${RUN} with.`);
    expect(page.url()).toMatch(/#\/\?compare=/);
    await page.getByRole('checkbox', { name: 'Choose other' }).click();
    await page.getByRole('link', { name: /^Compare .* at a1$/ }).click();
    await page.locator('.beside').waitFor();
    expect(page.url()).toMatch(/\/q\/a1$/);
    await leave(seen);
  });

  test('runs are found by their words, in the order that is chosen, both in the address', async () => {
    const seen = await visit('');
    const { page } = seen;
    const names = () => page.locator('.card .whole').allInnerTexts();
    await expect.poll(async () => (await names()).length).toBe(2);
    await page.getByRole('combobox', { name: 'Order of the runs' }).selectOption('name');
    await expect.poll(names).toEqual([RUN, 'other'].toSorted());
    await page.keyboard.press('/');
    await page.keyboard.type('OTH open');
    await expect.poll(names).toEqual(['other']);
    await expect.poll(() => page.url()).toMatch(/#\/\?f=OTH\+open&s=name$/);
    await page.getByRole('searchbox').fill('nowhere');
    await expect.poll(() => page.locator('main').innerText()).toContain('No run is like that.');
    await leave(seen);
  });

  test('z shows the list alone, and again what stands around it', async () => {
    const seen = await visit(`#/run/${RUN}`);
    const { page } = seen;
    await page.locator('.tabs').waitFor();
    const heightOf = async () => (await page.locator('.virtual').boundingBox())!.height;
    await page.keyboard.press('z');
    await page.locator('.tr.row').nth(2).waitFor();
    await expect.poll(() => page.locator('.run-head').isVisible()).toBe(false);
    const alone = await heightOf();
    await page.keyboard.press('z');
    await expect.poll(() => page.locator('.run-head').isVisible()).toBe(true);
    expect(await heightOf()).toBeLessThan(alone);
    await leave(seen);
  });

  test('in flight: the servers as workers saw them, the rollouts that ended last, and a button that holds it still', async () => {
    const id = { query: QUERIES[2]!, index: 2, verdicts: [] as const };
    await open(viewer.rig.store, 2, { ...id, attempt: 2 });
    const report = (requests: number) =>
      writeFleetReport(viewer.rig.store.folder, 'w1', {
        at: 1_700_000_100_000,
        servers: [
          {
            ...{
              url: 'http://10.0.0.7:30000',
              state: 'trying',
              requests,
              failures: 2,
              failuresBy: {},
              inFlight: 1,
              latencyP50Ms: 1500,
            },
            ...{ version: 3, versionLabel: null, fellFrom: null, lastFailure: '<b>server-busy</b>' },
            rechecks: NO_RECHECKS,
          },
        ],
      });
    await report(41);
    const seen = await visit(`#/run/${RUN}/live`);
    const { page } = seen;
    const servers = page.getByRole('region', { name: 'Servers' });
    await expect
      .poll(() => servers.innerText())
      .toMatch(/10\.0\.0\.7:30000\s+trying\s+41\s+1\s+1\.5 s\s+3\s+2\s+<b>server-busy/);
    await expect.poll(() => page.locator('.live').innerText()).toContain('Ended last');
    await page.getByRole('button', { name: 'Hold still' }).click();
    await page.getByRole('button', { name: 'Go on' }).waitFor();
    await report(42);
    await page.waitForTimeout(2_500);
    expect(await servers.innerText()).toContain('41');
    await page.keyboard.press(' ');
    await expect.poll(() => servers.innerText()).toContain('42');
    await leave(seen);
  });

  test('the calls of an agent’s program stand as a tree, with what it sent, and its own answer behind them with its verdict', async () => {
    const query = aQuery('agent');
    const store = openFileStore(viewer.rig.out, 'agents');
    await putRun(store, [query], { run: 'agents' });
    const parents = [null, 1, 1, 2, null];
    const judging = withRecords(store, {
      verdict: (verdict) => ({ ...verdict, ...(verdict.turn === 5 && { answer: 'It is <b>42</b>.' }) }),
      end: (end) => ({ ...end, abandoned: [3] }),
    });
    await play(judging, {
      ...{ run: 'agents', query, verdicts: ['called', 'called', 'called', 'called', 'right'], stop: 'done' },
      turn: (turn) => ({
        asked: {
          ...{ call: '0'.repeat(18), hash: 'a'.repeat(64), occurrence: 0, dialect: '/chat/completions' },
          ...{ parent: parents[turn - 1]!, branch: turn === 5 ? 'edited' : null, differsAt: turn === 5 ? 1 : null },
          ...{ shared: 0, messages: [{ role: 'user', text: `message ${turn}` }], limits: {} },
        },
        ...(turn === 2 && { reply: { text: 'I look.', calls: [{ name: 'price', arguments: '{"fruit":"apple"}' }] } }),
      }),
    });
    const seen = await visit('#/run/agents/q/agent/0');
    const { page } = seen;
    await page.locator('.turn').nth(5).waitFor();
    const calls = page.locator('.turn');
    expect(await calls.locator('h2').allInnerTexts()).toEqual([
      'Call 1',
      'Call 2',
      'Call 4',
      'Call 3',
      'Call 5',
      'The program’s answer',
    ]);
    const lefts = await calls.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
    expect(lefts.map((left) => left > lefts[0]!)).toEqual([false, true, true, true, false, false]);
    expect(await calls.nth(1).innerText()).toMatch(
      /goes on from call 1[^]*message 2[^]*calls price \{"fruit":"apple"\}/,
    );
    expect(await calls.nth(3).innerText()).toContain('abandoned');
    expect(await calls.nth(4).innerText()).toContain('a root: edited, from message 2 on');
    expect(await calls.nth(5).innerText()).toMatch(/✓ right[^]*It is <b>42<\/b>\./);
    expect(await page.locator('.turn .verdict').allInnerTexts()).toEqual(['✓ right']);
    for (const turn of [1, 2, 4]) {
      await page.keyboard.press('n');
      await expect.poll(() => page.url()).toMatch(new RegExp(`/t/${turn}$`));
    }
    await leave(seen);
  });

  test('says what is wrong with an address of nothing', async () => {
    const seen = await visit('#/run/nothing');
    await expect.poll(() => seen.page.getByRole('alert').innerText()).toContain('There is no run "nothing"');
    const other = await visit(`#/run/${RUN}/q/a9/0`);
    await expect.poll(() => other.page.getByRole('alert').innerText()).toContain('There is no query "a9"');
    await other.page.getByRole('link', { name: `Rollouts of ${RUN}` }).click();
    await other.page.locator('.tr.row').first().waitFor();
    await seen.close();
    await other.close();
  });
});
