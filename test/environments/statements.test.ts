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
});
