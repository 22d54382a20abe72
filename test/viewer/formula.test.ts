// Formulas and Markdown in texts: where they begin and end, and that no text takes long.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formulaAt, lastBoxed } from '../../viewer/page/formula.ts';
import { readMarkdown } from '../../viewer/page/markdown.ts';
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
