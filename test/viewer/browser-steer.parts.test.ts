// A person's acts in a real browser: the address brings the key, each act shows its command, and what it said is on the page.

import { expect, test } from 'vitest';
import { RUN } from '../records/play.ts';
import { NO_BROWSER, useViewer } from './browser.ts';
import { axeFaults } from './axe.ts';
import { playSome, steeredBy } from './rig.ts';
import { describeUnless } from '../support/needs.ts';

const KEY = 'the-key';

describeUnless(NO_BROWSER)('acts in a browser', () => {
  const commands: (readonly string[])[] = [];
  const viewer = useViewer(({ store }) => playSome(store), { steering: (rig) => steeredBy(rig, KEY, commands) });
  const page = viewer.visit;

  test('the key leaves the address at once, lasts for the tab, and is in no copy of the address', async () => {
    const seen = await page(`#/run/${RUN}/q/a1/0?f=right%401%3Ano&steer=${KEY}`);
    const { page: tab } = seen;
    await tab.locator('.acts').first().waitFor();
    expect(tab.url()).toBe(`${viewer.server.url.split('?')[0]}#/run/${RUN}/q/a1/0?f=right%401%3Ano`);
    await tab.reload();
    await tab.locator('.acts').first().waitFor();
    expect(seen.errors).toEqual([]);
    const other = await page(`#/run/${RUN}/q/a1/0`);
    await other.page.locator('.turn').nth(2).waitFor();
    expect(await other.page.locator('.acts').count()).toBe(0);
    await other.close();
    await seen.close();
  });

  test('a key that is pasted into an open tab counts at once', async () => {
    const seen = await page(`#/run/${RUN}/q/a1/0`);
    const { page: tab } = seen;
    await tab.locator('.turn').nth(2).waitFor();
    expect(await tab.locator('.acts').count()).toBe(0);
    await tab.goto(`${tab.url().split('#')[0]}#/run/${RUN}/q/a1/0?steer=${KEY}`);
    await tab.locator('.acts').first().waitFor();
    expect(tab.url()).not.toContain(KEY);
    await tab.goto(`${tab.url().split('#')[0]}#/run/${RUN}/q/a2/0`);
    await tab.getByRole('heading', { name: 'a2' }).waitFor();
    await tab.locator('.acts').first().waitFor();
    expect(seen.errors).toEqual([]);
    await seen.close();
  });

  test('a verdict and a note show their command, are recorded, and stand beside the judge’s', async () => {
    const seen = await page(`#/run/${RUN}/q/a1/0?steer=${KEY}`);
    const { page: tab } = seen;
    const turn = tab.locator('#turn-1');
    await turn.getByRole('button', { name: '✓ Right' }).click();
    await turn.locator('textarea').fill("it's <b>equivalent</b>\u202e");
    expect(await turn.locator('.command').innerText()).toContain('everturn verdict --attempt=1 --turn=1 ');
    await turn.locator('.form .button').click();
    await turn.locator('.people .verdict.right').waitFor();
    expect(await turn.locator('.said .verdict').innerText()).toBe('✗ wrong');
    expect(await turn.locator('.people').innerText()).toContain('ana says ✓ right');
    await tab.locator('.end ~ .steer').getByRole('button', { name: 'Note' }).click();
    expect(await tab.locator('.end ~ .steer .form .button').isDisabled()).toBe(true);
    await tab.locator('.end ~ .steer textarea').fill('worth a look');
    await tab.locator('.end ~ .steer .form .button').click();
    await expect.poll(() => tab.locator('.people').last().innerText()).toContain('ana notes worth a look');
    expect(await axeFaults(tab)).toEqual([]);
    expect([seen.errors, seen.left]).toEqual([[], []]);
    await seen.close();
  });

  test('a wrong key looks, and acts are refused with the reason', async () => {
    const before = commands.length;
    const seen = await page(`#/run/${RUN}/q/a2/0?steer=another`);
    const turn = seen.page.locator('#turn-1');
    await turn.getByRole('button', { name: '✗ Wrong' }).click();
    await turn.locator('.form .button').click();
    await expect.poll(() => turn.getByRole('alert').innerText()).toContain('may look, and not act');
    expect(commands).toHaveLength(before);
    await seen.close();
  });
});
