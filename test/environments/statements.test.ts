// How an answer is stated, and what takes it back: 300 statements as models write them, and more than 3,000 texts that show
// the same value and do not state it as the answer.

import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';
import { statements } from './statements.ts';

const all = [...statements()].map((one) => ({ ...one, verdict: judgeMath(one.answer, [one.solution]).verdict }));

const otherwise = (expected: 'right' | 'wrong'): { readonly of: number; readonly missed: readonly string[] } => {
  const side = all.filter((one) => one.expected === expected);
  return {
    of: side.length,
    missed: side.filter((one) => one.verdict !== expected).map((one) => JSON.stringify([one.solution, one.answer])),
  };
};

describe('a value in a text', () => {
  test('is the answer in at least 98 of 100 statements of it', () => {
    const { of, missed } = otherwise('right');
    expect(of).toBeGreaterThanOrEqual(300);
    expect(missed.length / of, missed.slice(0, 20).join('\n')).toBeLessThanOrEqual(0.02);
  });

  test('is none where it is denied, taken back or said of something else', () => {
    const { of, missed } = otherwise('wrong');
    expect(of).toBeGreaterThanOrEqual(3_000);
    expect(missed.length / of, missed.slice(0, 20).join('\n')).toBeLessThanOrEqual(0.005);
  });

  test.each([
    'We obtain $\\boxed{0.75}$, which is less than 1 as required.',
    'Hence the ratio is $\\boxed{0.75}$, which is smaller than one, as the problem demands.',
    'So the value is $\\boxed{0.75}$, matching the check above.',
  ])('stays the answer when its clause compares or confirms it: %s', (answer) => {
    expect(judgeMath(answer, ['0.75']).verdict).toBe('right');
  });

  test.each([
    'We obtain $\\boxed{0.75}$, which is less than 1, impossible.',
    'We obtain $\\boxed{0.75}$, which is greater than 0.5, too large.',
    'We obtain $\\boxed{0.75}$, which is less than the answer by 1.',
    'We obtain $\\boxed{0.75}$, matching the wrong key.',
  ])('is none when that clause refutes it: %s', (answer) => {
    expect(judgeMath(answer, ['0.75']).verdict).toBe('wrong');
  });

  test.each([
    ['Options A and C fail, therefore (B).', 'right'],
    ['Therefore (B) is correct, since A and C fail.', 'right'],
    ['B and C fail. Therefore (B).', 'wrong'],
    ['A and C fail. Therefore (B) or (D).', 'wrong'],
    ['A and B are wrong, so C.', 'wrong'],
  ])('is a choice that is left when others are eliminated: %s', (answer, verdict) => {
    expect(judgeMath(answer, ['B']).verdict).toBe(verdict);
  });
});
