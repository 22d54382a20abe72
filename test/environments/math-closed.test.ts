// A closed world: every answer to a usable solution is right or wrong, each word of it is accounted for, and none of this
// refuses what honest answers say.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { examineSolution } from '../../environments/math/solution.ts';
import { judgeMath } from '../../environments/math/judge.ts';

interface Pair {
  readonly verdict: 'right' | 'wrong';
  readonly solutions: readonly [string];
  readonly answer: string;
}

const read = (name: string): Pair[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Pair);
const closed = read('./math-closed.jsonl');

describe('a final answer', () => {
  test.each(['wrong', 'right'] as const)('is %s in every labelled pair of that verdict', (verdict) => {
    const pairs = closed.filter((pair) => pair.verdict === verdict);
    expect(pairs.length).toBeGreaterThan(50);
    expect(pairs.filter(({ answer, solutions }) => judgeMath(answer, solutions).verdict !== verdict)).toEqual([]);
  });

  test.each([
    ['unreadable', '5', '\\boxed{4x =}'],
    ['no-value', '5', '\\boxed{7/0}'],
    ['no-value', '5', '\\log 0'],
    ['too-big', '5', `\\boxed{${'9+'.repeat(3_000)}9}`],
    ['not-shown', '5', '\\int_0^1 e^{x^2} dx'],
    ['cut-off', '5', 'So it is \\boxed{5'],
    ['no-answer', '5', '\\boxed{}'],
    ['different', '5', '6'],
  ])('that is wrong says why: %s', (reason, solution, answer) => {
    expect(judgeMath(answer, [solution])).toMatchObject({ verdict: 'wrong', reason });
  });
});

describe('an answer that was cut', () => {
  test.each([
    'We have \\boxed{12}. Then',
    'The answer is $12$',
    'The final answer is 12. Let me',
    'The answer is 12.\nNow',
    '#### 12\n',
    '<answer>12</answer> as',
    '**Answer:** **12**',
    'We have \\boxed{12} and',
  ])('counts where it completes its answer: %j', (answer) => {
    expect(judgeMath(answer, ['12'], { cut: true })).toMatchObject({ verdict: 'right' });
  });

  test.each([
    'The answer is 12',
    'The answer is 12.',
    '12',
    'So we get x = 12',
    'so $x = 12$. Then',
    '#### 12',
    '<answer>12',
    'The answer is $12',
    '\\boxed{12',
    '\\boxed{12} and then \\boxed{1',
    '<think>So it is \\boxed{12}. Next',
    '',
  ])('does not count where it does not: %j', (answer) => {
    expect(judgeMath(answer, ['12'], { cut: true })).toMatchObject({ verdict: 'wrong', reason: 'cut-off' });
  });
});

describe('a solution', () => {
  test.each([
    ['42', undefined],
    ['\\frac{1}{2}', undefined],
    ['odd', undefined],
    ['(B)', undefined],
    ['x \\ne 1, 2', undefined],
    ['#### 72', undefined],
    ['5 \\text{ foo}', undefined],
    ['', 'empty'],
    ['???', 'empty'],
    ['\\frac{1}{', 'unreadable'],
    ['4x =', 'unreadable'],
    ['7/0', 'not-equal-to-itself'],
    ['\\log 0', 'not-equal-to-itself'],
    [`\\boxed{${'9+'.repeat(3_000)}9}`, 'too-big'],
  ])('is examined before it judges (%#)', (text, reason) => {
    expect(examineSolution(text)).toMatchObject(reason === undefined ? { usable: true } : { usable: false, reason });
  });

  test.each([
    ...['Paris', 'St. Louis, Missouri', 'Dr. King', 'Alice and Bob', '\\text{even}', 'DNA', '\\boxed{Monday}'],
    ...['#### a right triangle', 'The Good and the Bad', 'Beyoncé', "O'Neill", 'to keep warm'],
  ])('that is a name or a phrase is known as one: %s', (text) => {
    expect(examineSolution(text)).toEqual({ usable: true, inWords: true });
  });

  test.each([
    ...['B', '(C) Paris', 'yes', 'False', 'no solution', 'none', 'all real numbers', 'twelve', 'one half'],
    ...[
      '42',
      'x',
      'ab',
      '\\pi',
      '\\frac{a}{b}',
      '5 cows',
      '18 \\text{ ways}',
      'May 5, 1931',
      '3:30 pm',
      '\\sin x',
      'x > 5',
    ],
    ...[
      '(1, 2)',
      '\\{1, 2\\}',
      '[0, 1)',
      '1, 2 and 3',
      '\\infty',
      'IV',
      '210\\text{ minutes}',
      'y = mx + b',
      '50 percent',
    ],
  ])('that the judge understands is no name: %s', (text) => {
    expect(examineSolution(text)).toEqual({ usable: true });
  });

  test('that cannot be used leaves the answer undecided, unless another one can', () => {
    expect(judgeMath('7', ['4x ='])).toEqual({ verdict: 'undecided', reason: 'solution-unreadable' });
    expect(judgeMath('7/0', ['7/0'])).toEqual({ verdict: 'undecided', reason: 'solution-unreadable' });
    expect(judgeMath('7', [])).toEqual({ verdict: 'undecided', reason: 'no-solution' });
    expect(judgeMath('7', ['4x =', '7'])).toMatchObject({ verdict: 'right' });
    expect(judgeMath('8', ['4x =', '7'])).toMatchObject({ verdict: 'wrong', reason: 'different' });
  });
});
