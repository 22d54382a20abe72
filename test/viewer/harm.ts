// The harm that a page has done: everything that would have happened if a text had become more than text.

import type { Seen } from './browser.ts';

export async function harm({ page, errors, left }: Seen): Promise<unknown[]> {
  const hit = await page.evaluate('globalThis.hit');
  const planted = await page
    .locator('img,iframe,object,embed,base,video,marquee,math,template,body script:not([type])')
    .count();
  return [...(hit === undefined ? [] : ['hit']), ...(planted === 0 ? [] : [`${planted} planted`]), ...errors, ...left];
}
