// Texts of models and data sets as a real browser shows them: Markdown and formulas rendered, hostile ones harmless and in
// bounded time, each as it was written at the press of a key.

import { expect, test } from 'vitest';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { describeUnless } from '../support/needs.ts';
import { NO_BROWSER, useViewer } from './browser.ts';
import { harm } from './harm.ts';

const ANSWER = `The **sum** of *both*, for $5 and $6:

\\[
\\frac{a}{b} = \\sqrt{2}
\\]

| $x_1$ | 2 |
|---|---|
| a | b |

1. first
2. [a page](https://example.org/x)

So \\boxed{\\frac12}.`;

/** Each would load, run, overlap or take for ever. */
const HOSTILE: Readonly<Record<string, string>> = {
  link: '[a](javascript:hit=1) <javascript:hit=1> [b](data:text/html,x) [c](vbscript:x)',
  image: '![a](https://evil.example/x.png) ![b](data:image/png;base64,AAAA) ![c][d]\n\n[d]: //evil.example/y.png',
  markup: '<img src=x onerror=hit=1> <math><mi>x</mi></math>\n\n<iframe src=//evil.example></iframe>',
  href: '$\\href{javascript:hit=1}{x}$ $\\includegraphics{//evil.example/x.png}$ $\\url{//evil.example}$',
  style: '$\\style{position:fixed;inset:0}{x}$ $\\class{top}{x}$ $\\id{app}{x}$ $\\htmlStyle{color:red}{x}$',
  far: '$\\kern-900em x \\rule{9000em}{9000em} \\hspace{-99in} y$',
  bomb: '$\\def\\a{\\a\\a}\\a$ $\\newcommand{\\b}{\\b}\\b$',
  braces: `$${'{'.repeat(1500)}x${'}'.repeat(1500)}$ $${'\\sqrt{'.repeat(300)}x${'}'.repeat(300)}$`,
  units: `$\\pu{${'a/'.repeat(400)}a}$ $\\pu{${'//'.repeat(20)}}$`,
  doubled: `$${'\\llap{'.repeat(90)}x${'}'.repeat(90)}$ $${'\\equilibriumRight{'.repeat(50)}x${'}'.repeat(50)}$`,
  matrices: `$$\\begin{matrix}${'1&2&3\\\\'.repeat(60)}\\end{matrix}$$ `.repeat(120),
  quotes: '>'.repeat(30_000),
  lists: '- '.repeat(15_000),
  emphasis: `${'*a **b '.repeat(4_000)}${'** * '.repeat(4_000)}`,
  dollars: '$'.repeat(1 << 20),
  formulas: '$x^2$ '.repeat(6_000),
};

describeUnless(NO_BROWSER)('texts in a browser', () => {
  const viewer = useViewer(async (rig) => {
    const expected = ['Worked out it is \\boxed{\\frac12}.'];
    const queries = ['nice', ...Object.keys(HOSTILE)].map((id) =>
      aQuery(id, { prompt: { kind: 'text', text: HOSTILE[id] ?? 'What is $x^2$?' }, solutions: expected }),
    );
    await putRun(rig.store, queries);
    for (const [index, query] of queries.entries()) {
      const answer = HOSTILE[query.queryId] ?? ANSWER;
      await play(rig.store, { query, index, verdicts: ['wrong', 'right'], turn: () => ({ answer }) });
    }
  });
  const visit = (query: string) => viewer.visit(`#/run/${RUN}/q/${query}/0`);

  test('are rendered: emphasis, lists, tables, links to the web, formulas; the expected value comes first', async () => {
    const seen = await visit('nice');
    const answer = seen.page.locator('.answer.rich').first();
    await answer.waitFor();
    expect(await seen.page.locator('.asked math').count()).toBe(1);
    const counts = { strong: 1, em: 1, math: 3, td: 2, 'ol li': 2, 'a[href="https://example.org/x"]': 1 };
    for (const [part, n] of Object.entries(counts))
      expect([part, await answer.locator(part).count()]).toEqual([part, n]);
    expect(await answer.innerText()).toContain('for $5 and $6');
    await seen.page.locator('.question .expected b math').waitFor();
    expect(await seen.page.locator('.question .expected').innerText()).not.toContain('Worked out');
    expect(await seen.page.locator('.told').innerText()).toContain('Unfortunately your answer is wrong');
    expect(await harm(seen)).toEqual([]);
    await seen.close();
  });

  test('are as they were written at the press of a key, also on the next page', async () => {
    const seen = await visit('nice');
    const { page } = seen;
    await page.locator('.answer.rich').first().waitFor();
    await page.getByRole('button', { name: 'raw text' }).click();
    await expect.poll(() => page.locator('.answer').first().textContent()).toBe(ANSWER);
    await page.reload();
    await expect.poll(() => page.locator('.answer').first().textContent()).toBe(ANSWER);
    // As early as can be: the keys hold from the moment that the answer is there.
    await page.addInitScript(
      `new MutationObserver((_, observer) => {
        if (!document.querySelector('.answer')) return;
        observer.disconnect();
        dispatchEvent(new KeyboardEvent('keydown', { key: 'r' }));
      }).observe(document, { childList: true, subtree: true })`,
    );
    await page.reload();
    await page.locator('.answer.rich').first().waitFor();
    await seen.close();
  });

  /** With every commit those whose harm a browser alone would show; the time that others take is bounded in formula.test.ts. */
  const SHOWN = ['link', 'image', 'markup', 'href', 'style', 'far', 'matrices', 'quotes', 'dollars'];
  const tried = Object.keys(HOSTILE).filter((name) => process.env['EVERTURN_TESTS'] === 'all' || SHOWN.includes(name));
  test.each(tried)('%s does no harm, and the page answers soon', { timeout: 90_000 }, async (query) => {
    const seen = await visit(query);
    const { page } = seen;
    const began = performance.now();
    await page.locator('.turn').nth(1).waitFor();
    await page.waitForTimeout(500);
    expect(await page.evaluate('1 + 1')).toBe(2);
    expect(performance.now() - began).toBeLessThan(40_000);
    expect(await harm(seen)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await seen.close();
  });
});
