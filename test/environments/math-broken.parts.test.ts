// Pairs on which the judge was once wrong, with the neighbours that must stay as they are; and the principles behind
// them, generated: a term that vanishes at whole numbers only, letters that change places, a factor before a bracket.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { examineSolution } from '../../environments/math/solution.ts';
import { judgeMath } from '../../environments/math/judge.ts';

interface Pair {
  readonly class: string;
  readonly verdict: string;
  readonly solutions: readonly string[];
  readonly answer: string;
}

const PAIRS = readFileSync(new URL('./math-broken.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair);

const judged = (solution: string, answer: string): string => judgeMath(`\\boxed{${answer}}`, [solution]).verdict;

describe('a pair that was once judged wrongly', () => {
  for (const name of new Set(PAIRS.map((pair) => pair.class)))
    test(`has its verdict: ${name}`, () => {
      const own = PAIRS.filter((pair) => pair.class === name);
      const otherwise = own.filter(
        ({ solutions, answer, verdict }) => judgeMath(answer, solutions).verdict !== verdict,
      );
      expect(otherwise).toEqual([]);
    });
});

const VALUES = [
  '5',
  '\\frac{3}{7}',
  '\\sqrt{2}',
  '\\pi',
  'y^2+1',
  '2y',
  '\\ln y',
  '\\sin y',
  'e^{-y}',
  '|y|',
  '\\frac{1}{y+1}',
];
const LETTERS = ['x', 't', '\\theta', 'z', 'u', 'f', 'v', 'w'];
const VANISHING = [
  '\\sin(\\pi L)',
  '\\sin(2\\pi L)',
  '\\sin(12\\pi L)',
  '\\tan(\\pi L)',
  '\\sin^2(3\\pi L)',
  '\\left(1-\\cos(2\\pi L)\\right)',
  '\\sin(360^\\circ L)',
  '0^{L}',
  '0^{L^2}',
  '\\left((-1)^{2L}-1\\right)',
  '\\sin(5000000\\pi L)',
  '\\sin(10000000\\pi L)',
];

describe('a term that vanishes at whole numbers', () => {
  test.each(VANISHING)('makes any value another one: %s', (term) => {
    const right: string[] = [];
    const at = VANISHING.indexOf(term);
    for (const [i, value] of VALUES.entries())
      // Each letter meets each value and each term, but not every pair of these.
      for (const letter of LETTERS.filter((_, k) => (k + i + at) % 4 === 0)) {
        const own = term.replace('L', () => `${letter} `);
        for (const answer of [`${value}+${own}`, `${value}+3${own}`, `${own}+${value}`])
          if (judged(value, answer) === 'right' || judged(answer, value) === 'right') right.push(answer);
      }
    expect(right).toEqual([]);
  });

  test('changes no sequence over n, m or k', () => {
    for (const letter of ['n', 'm', 'k'])
      for (const term of VANISHING.slice(0, 4))
        expect(judged('5', `5+${term.replace('L', letter)}`), term).toBe('right');
  });
});

describe('conditions on several letters', () => {
  const NAMES = ['x', 'y', 'a', 'b', 'p'];
  const CONDITIONS = ['L>0', 'L<0', 'L\\ge 2', 'L\\ne 1', 'L\\in[0,1]', '1<L<2', '|L|<3'];
  test('are equal only letter by letter', () => {
    const put = (condition: string, name: string): string => condition.replace('L', name);
    for (const [i, first] of CONDITIONS.entries())
      for (const [k, second] of CONDITIONS.entries())
        for (const join of [', ', '\\text{ and }', '; ']) {
          const [x = 'x', y = 'y'] = [NAMES[(i + k) % 5], NAMES[(i + k + 1) % 5]];
          const gold = `${put(first, x)}${join}${put(second, y)}`;
          expect(judged(gold, `${put(second, y)}${join}${put(first, x)}`), gold).toBe('right');
          expect(judged(gold, put(first, x)), gold).toBe('wrong');
          expect(judged(put(first, x), gold), gold).toBe('wrong');
          expect(judged(gold, `${put(first, x)}${join}${put(second, 'c')}`), gold).toBe('wrong');
          if (i !== k) expect(judged(gold, `${put(second, x)}${join}${put(first, y)}`), gold).toBe('wrong');
        }
  });
});

describe('a letter before a bracket', () => {
  const BRACKETS = ['1+r', '1-p', '1-x^2', '1-e^{-t}', 'n+1', '\\sin u-3\\cos u'];
  const POWERS = ['', '^{n}', '^{-1/2}', '^{k-1}', '^2', '^{-1}'];
  test('is a factor, whatever the bracket holds and is raised to', () => {
    for (const letter of ['P', 'p', 'x', 'A', 'n', 'V_0', 'a'])
      for (const inner of BRACKETS)
        for (const power of POWERS) {
          const answer = `${letter}(${inner})${power}`;
          expect(judged(`${letter}\\cdot(${inner})${power}`, answer), answer).toBe('right');
          expect(judged(`(${inner})${power}${letter}`, answer), answer).toBe('right');
          if (power !== '') expect(judged(`(${letter}\\cdot(${inner}))${power}`, answer), answer).toBe('wrong');
        }
  });

  test('is no factor where the letter names a function of a plain argument', () => {
    for (const letter of ['f', 'g', 'h', 'F', 'G', '\\phi'])
      for (const arg of ['x', '2x', 'x+1', 'x^2', '3', '\\sin x', 'e^x'])
        expect(judged(`${letter}(${arg})`, `${letter}\\cdot(${arg})`), `${letter}(${arg})`).toBe('wrong');
  });
});

describe('a solution that cannot be evaluated', () => {
  test.each(['\\mathbb{Z}_6', '2^{2^{100}}', 'P(X=1)', 'f\\circ g', 'H_2SO_4', '\\text{at least }6', 'p \\to q'])(
    'judges by its spelling: %s',
    (text) => {
      expect(examineSolution(text)).toEqual({ usable: true });
      expect(judgeMath(`\\boxed{${text}}`, [text])).toMatchObject({ verdict: 'right', reason: 'equal-text' });
      expect(judgeMath('\\boxed{7}', [text])).toMatchObject({ verdict: 'wrong' });
      expect(judgeMath(`\\boxed{${text}+1}`, [text])).toMatchObject({ verdict: 'wrong' });
    },
  );

  test.each([
    '4x =',
    '7/0',
    '\\frac{1}{',
    '3 +* 5',
    '(1,2',
    '\\frac{}{2}',
    'x^',
    '5 +',
    '\\sqrt{}',
    '\\left(1',
    '\\begin{cases}1',
    '\\log 0',
  ])('judges nobody where it is broken: %s', (text) => {
    expect(examineSolution(text)).toMatchObject({ usable: false });
  });
});
