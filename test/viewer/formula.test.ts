// Formulas and Markdown in texts: where they begin and end, and that no text takes long.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lastBoxed } from '../../domain/text/boxed-answer.ts';
import { formulaAt, readMarkdown } from '../../viewer/page/markdown.ts';
import { formulaTree, openBudget } from '../../viewer/page/formula-tree.ts';
import { ANY_CHAR } from '../domain/some.ts';

describe('a formula in a text', () => {
  test.each([
    ['$x^2$', 'x^2', false],
    ['$$ a\n= b $$', 'a\n= b', true],
    ['\\(a\\)', 'a', false],
    ['\\[\n\\frac12\n\\] and so on', '\\frac12', true],
    ['\\boxed{\\frac{1}{2}} is it', '\\boxed{\\frac{1}{2}}', false],
    ['\\begin{align*} a &= b \\end{align*}', '\\begin{align*} a &= b \\end{align*}', true],
  ])('%s is a formula', (text, tex, display) => expect(formulaAt(text, 0)).toMatchObject({ tex, display }));

  test.each(['$5 and $6', '$ x$', '$x $', '$', '$$', '\\(a', '\\[a', '\\boxed{a', '\\alpha', '$a\n\nb$', '\\begin{a}'])(
    '%s is none',
    (text) => expect(formulaAt(text, 0)).toBeUndefined(),
  );

  test('the last boxed value of a worked text is found, whatever braces it holds', () => {
    expect(lastBoxed('\\boxed{1} then \\boxed{\\text{a \\} b}_{2}} end')).toBe('\\text{a \\} b}_{2}');
    expect(lastBoxed('\\boxed{never closed')).toBeUndefined();
  });

  const formulas = (text: string): string[] =>
    readMarkdown(text).flatMap(({ type, content, children }) =>
      type === 'formula'
        ? content
        : (children ?? []).flatMap((child) => (child.type === 'formula' ? child.content : [])),
    );

  test('formulas go before Markdown: no mark in them is emphasis, an escape, or a list', () => {
    expect(formulas('so $a_1 * b_2$ and *$x$*\n\n\\[\nx\n- y\n\n+ z\n\\]\n\n- one: \\(a\\)')).toEqual([
      'a_1 * b_2',
      'x',
      'x\n- y\n\n+ z',
      'a',
    ]);
    expect(formulas('`$x$` and\n\n```\n$y$\n```')).toEqual([]);
  });

  test('any text is read, and none takes long', () => {
    fc.assert(fc.property(fc.string({ unit: ANY_CHAR, maxLength: 300 }), (text) => void readMarkdown(text)));
    const parts = [
      '$',
      '\\(',
      '\\[',
      '\\boxed{',
      '> ',
      '- ',
      '*a ',
      '[',
      '![](',
      '`',
      '<',
      '_*',
      '|a',
      '\\begin{a}',
      '&',
    ];
    for (const part of parts) {
      const began = performance.now();
      readMarkdown(part.repeat(Math.ceil(60_000 / part.length)));
      expect([part, performance.now() - began < 5_000]).toEqual([part, true]);
    }
  });
});

describe('a formula is rendered in bounded work', () => {
  const fill = (part: string, chars = 1_900): string => part.repeat(Math.floor(chars / part.length));
  const nest = (open: string, close: string, chars = 1_900): string => {
    const times = Math.floor(chars / (open.length + close.length));
    return `${open.repeat(times)}x${close.repeat(times)}`;
  };

  test.each([
    'x^2 + \\frac{1}{2}',
    '\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}',
    '\\cancelto{0}{x} + \\mathrlap{y}',
    '\\ce{2H2 + O2 ->[\\Delta] 2H2O}',
    '\\ce{^{227}_{90}Th+}',
    `\\begin{align*} ${fill('a_1 &= \\frac{b}{c} + 1 \\\\ ', 900)} \\end{align*}`,
    nest('1 + \\cfrac{1}{', '}', 150),
  ])('%s is rendered', (tex) => expect(formulaTree(tex, true)?.elements).toBeGreaterThan(2));

  /** Each holds a page for seconds, or ends it, where Temml is not stopped. */
  test.each([
    `\\pu{${fill('a/')}a}`,
    `\\pu{${fill('//', 40)}}`,
    nest('\\llap{', '}'),
    nest('\\mathllap{', '}'),
    nest('\\cancelto{a}{', '}'),
    nest('\\equilibriumRight{', '}'),
    nest('\\equilibriumLeft{', '}'),
    nest('\\cancelto{\\llap{', '}}{\\mathclap{x}}'),
    '\\def\\a{\\a\\a}\\a',
    '\\newcommand{\\b}{\\b\\b}\\b',
    '\\let\\a=\\b \\gdef\\c{\\c}',
    nest('\\mathchoice{', '}{}{}{}'),
    nest('\\ce{', '}'),
    `\\ce{${fill('A <=>>[B] ', 280)}}`,
    nest('\\ce{^{', '}X}', 280),
    nest('\\ce{A <=>>[', ']}', 280),
    nest('\\frac{', '}{2}'),
    nest('\\sqrt{', '}'),
    nest('\\left(\\frac{1}{', '}\\right)'),
    nest('{', '}'),
    nest('\\begin{matrix}', '\\end{matrix}'),
    `\\begin{matrix}${fill('&')}\\end{matrix}`,
    `\\begin{array}{${fill('c|', 900)}}${fill('a&', 900)}\\end{array}`,
    `\\begin{array}{c}${fill('\\hline')}\\end{array}`,
    fill('x^'),
    fill('^'),
    `x${fill("'")}`,
    nest('x^{', '}'),
    nest('\\Braket{', '}'),
    nest('\\substack{', '}'),
    nest('\\text{$', '$}'),
    fill('\\pmod{n}'),
    fill('\\LaTeX'),
    'x'.repeat(1 << 20),
  ])('%#: it ends', (tex) => void expect(() => formulaTree(tex, true)).not.toThrow());

  test('of a long formula nothing is counted against the next one', () => {
    expect(formulaTree(nest('\\llap{', '}'), true)).toBeUndefined();
    expect(formulaTree('\\frac12', false)).toBeDefined();
  });

  test('all formulas of a page have a quarter of its time, and a little that was saved', () => {
    let now = 0;
    const budget = openBudget(() => now);
    let spent = 0;
    for (; now < 10_000; now += 1) {
      if (!budget.isLeft()) continue;
      budget.spend(40, 100);
      now += 40;
      spent += 41;
    }
    expect(spent).toBeGreaterThan(2_500);
    expect(spent).toBeLessThan(3_300);
    now += 5_000;
    expect(budget.isLeft()).toBe(true);
  });
});
