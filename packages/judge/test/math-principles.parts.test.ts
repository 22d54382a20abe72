// Principles behind pairs on which the judge was once wrong (pairs/once-wrong.jsonl), drawn out: a term that vanishes at whole
// numbers only, letters that change places, a factor before a bracket, a plain number without the full comparison.

import { describe, expect, test } from 'vitest';
import { compareTexts } from '../compare/compare-texts.ts';
import { judge } from '../judge.ts';
import { leafOptions } from '../solution.ts';
import { randomSource } from '../../../test/support/texts.ts';

const judged = (solution: string, answer: string): string => judge(`\\boxed{${answer}}`, [solution]).verdict;

const listed = (texts: string): string[] => texts.trim().split(/\s{2,}/);
const VALUES = listed(String.raw`5  \frac{3}{7}  \sqrt{2}  \pi  y^2+1  2y  \ln y  \sin y  e^{-y}  |y|  \frac{1}{y+1}`);
const LETTERS = ['x', 't', '\\theta', 'z', 'u', 'f', 'v', 'w'];
const VANISHING = listed(String.raw`
  \sin(\pi L)  \sin(2\pi L)  \sin(12\pi L)  \tan(\pi L)  \sin^2(3\pi L)  \left(1-\cos(2\pi L)\right)
  \sin(360^\circ L)  0^{L}  0^{L^2}  \left((-1)^{2L}-1\right)  \sin(5000000\pi L)  \sin(10000000\pi L)`);

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

describe('a plain number', () => {
  test('gets the verdict and the reason that the full comparison gives', () => {
    const random = randomSource(20_260_901);
    const spell = (): string => {
      const digits = String(random(10 ** (1 + random(9))));
      const tail = random(2) ? '' : `.${random(100)}${'0'.repeat(random(9))}`;
      return `${random(3) ? '' : '-'}${'0'.repeat(random(2))}${digits}${tail}`;
    };
    const options = leafOptions();
    for (let n = 0; n < 3_000; n++) {
      const a = spell();
      const b = random(2) ? spell() : a.includes('.') ? `${a}${'0'.repeat(1 + random(9))}` : `${a}.0`;
      // In brackets it takes the long way.
      expect(compareTexts(a, b, options), `${a} | ${b}`).toEqual(compareTexts(`(${a})`, `(${b})`, options));
    }
  });
});
