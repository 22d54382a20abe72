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

describe('a value in a text whose question is known', () => {
  const tank = 'A tank drains 12 gallons every 5 minutes. How many minutes does it take to drain 180 gallons?';
  const football =
    'In a class of 30 students, 18 play football. What is the probability that a student plays football?';
  const price = 'A shop raises a price from $80 to $92. What is the percent increase?';
  test.each([
    [tank, 'It takes 75 minutes (1 hour 15 minutes) to drain 180 gallons.', '75', 'right'],
    [tank, '**75 minutes**\n\nThe tank drains 12 gallons in 5 minutes, and 180 is 15 times 12.', '75', 'right'],
    [tank, 'The tank drains in 75 minutes. Checking: 75 / 5 = 15 and 15 × 12 = 180 ✓.', '75', 'right'],
    [tank, 'The tank drains in **75** minutes. So the total is 80.', '75', 'wrong'],
    [tank, 'Half of the time is \\boxed{75} minutes.', '75', 'wrong'],
    [tank, 'The tank needs up to \\boxed{75} minutes.', '75', 'wrong'],
    [tank, 'There are \\boxed{75} minutes, hence 80 in all.', '75', 'wrong'],
    [football, 'The probability that a student plays football is \\boxed{\\frac35}.', '\\frac35', 'right'],
    [football, 'The probability that a student does not play is \\boxed{\\frac35}.', '\\frac35', 'wrong'],
    [price, 'The price increased by **15%**.', '15', 'right'],
    [price, '\\boxed{15\\%}', '15', 'right'],
    ['What is the ratio?', '\\boxed{15\\%}', '15', 'wrong'],
  ])('%s %s', (question, answer, solution, verdict) => {
    expect(judgeMath(answer, [solution], { question }).verdict).toBe(verdict);
  });
});

describe('a value with the words of another language', () => {
  test.each([
    ['57', '答案是57个。', 'right'],
    ['57', '因此，商店现在有57个苹果。', 'right'],
    ['5cm', '因此边长是 $\\boxed{5\\text{厘米}}$。', 'right'],
    ['12\\text{ cm}^2', '\\boxed{12平方厘米}', 'right'],
    ['12\\text{ m}^2', '\\boxed{12平方厘米}', 'wrong'],
    ['20', '所以一共需要 20 元。', 'right'],
    ['4', '答えは4個です。', 'right'],
    ['12', '\\boxed{12个以上}', 'wrong'],
    ['12', '\\boxed{12万}', 'wrong'],
    ['3', '\\boxed{3个左右}', 'wrong'],
    ['3', '\\boxed{3个百分点}', 'wrong'],
  ])('%s %s', (solution, answer, verdict) => {
    expect(judgeMath(answer, [solution]).verdict).toBe(verdict);
  });
});

describe('several choices and closed lists', () => {
  test.each([
    ['\\text{A, C}', '\\boxed{AC}', 'right'],
    ['A, C', '\\boxed{A and C}', 'right'],
    ['A, C', '\\boxed{\\text{C},\\text{A}}', 'right'],
    ['A, C', '\\boxed{A or C}', 'wrong'],
    ['A, C', '\\boxed{A}', 'wrong'],
    ['A, C', '\\boxed{ACD}', 'wrong'],
    ['\\{1,2,3,4,5\\}', '\\boxed{\\{1,2,\\dots,5\\}}', 'right'],
    ['\\{1,2,3,4,5\\}', '\\boxed{\\{1,2,\\dots,6\\}}', 'wrong'],
    ['1, 3, 5, 7, 9', '\\boxed{1, 3, 5, \\ldots, 9}', 'right'],
    ['\\{1,2,4,8\\}', '\\boxed{\\{1,2,\\ldots,8\\}}', 'wrong'],
    ['FF_{16}', '\\boxed{\\text{FF}_{16}}', 'right'],
    ['9', 'Final Answer: **9** (nine) cookies', 'right'],
    ['9', '\\boxed{9} (ten) cookies', 'wrong'],
    ['(-\\infty,-2)\\cup(2,\\infty)', '\\boxed{x<-2 \\text{ and } x>2}', 'wrong'],
  ])('%s %s', (solution, answer, verdict) => {
    expect(judgeMath(answer, [solution]).verdict).toBe(verdict);
  });
});
