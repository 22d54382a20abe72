// The harm that a page has done: everything that would have happened if a text had become more than text.

import type { Seen } from './browser.ts';

/** Formulas are the viewer's own; so are links to the web, which lead away when a person clicks. */
const PLANTED =
  'img,iframe,object,embed,base,video,marquee,template,body script:not([type]),math:not(.formula math),' +
  '.rich a:not([href^="http://" i],[href^="https://" i]),.rich a:not([rel~=noreferrer]),.rich [style*="url"]';

export async function harm({ page, errors, left }: Seen): Promise<unknown[]> {
  const hit = await page.evaluate('globalThis.hit');
  const planted = await page.locator(PLANTED).count();
  return [...(hit === undefined ? [] : ['hit']), ...(planted === 0 ? [] : [`${planted} planted`]), ...errors, ...left];
}
