// Solutions of a real data set, whose boxes stand where a textbook puts them: in the middle of a sentence, of a display, of the text. Every
// 17th row of one half of MATH's test set (MIT licence, see the file beside the rows). None was chosen by its verdict; the shares may only
// get better.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';
import { scanBoxes } from '../../environments/math/find/boxes.ts';

const rows = readFileSync(new URL('../fixtures/boxed-solutions.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly problem: string; readonly solution: string })
  .map(({ problem, solution }) => ({
    question: problem,
    text: solution,
    value: scanBoxes(solution).boxes.at(-1)?.content ?? '',
  }));

const judged = (text: string, solution: string, question: string) => judgeMath(text, [solution], { question }).verdict;

/** Other values of the same form: no two of them are equal. */
const others = (value: string): readonly string[] => [
  ...(/\d/.test(value) ? [value.replace(/\d+(?=\D*$)/, (digits) => String(Number(digits) + 1))] : []),
  ...(/^\d+$/.test(value) && value !== '0' ? [`-${value}`, `${value}0`] : []),
  ...(/^\\[dt]?frac\{\d+\}\{\d+\}$/.test(value)
    ? [value.replace(/\{(\d+)\}\{(\d+)\}/, (all, top, bottom) => (top === bottom ? all : `{${bottom}}{${top}}`))]
    : []),
];

describe('a boxed solution of a textbook', () => {
  test('is right, but for a share that may only fall', () => {
    const missed = rows.filter(({ question, text, value }) => judged(text, value, question) !== 'right');
    expect(rows.length).toBeGreaterThan(140);
    expect(missed.length / rows.length, missed.map(({ text }) => text.slice(-200)).join('\n')).toBeLessThanOrEqual(
      0.06,
    );
  });

  test('is no other value', () => {
    const pairs = rows.flatMap(({ question, text, value }) =>
      others(value).map((other) => ({ question, text, other })),
    );
    expect(pairs.length).toBeGreaterThan(200);
    expect(
      pairs.filter(({ question, text, other }) => judged(text, other, question) === 'right').map(({ other }) => other),
    ).toEqual([]);
  });

  test('has a value that is right where it is the whole reply', () => {
    const missed = rows.filter(({ question, value }) => judged(`$${value}$`, value, question) !== 'right');
    expect(missed.map(({ value }) => value)).toEqual([]);
  });
});

describe('a boxed solution that a long sentence takes back', () => {
  const retractions = readFileSync(new URL('../fixtures/long-retractions.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  test.each(retractions)('is no answer: %s', (sentence) => {
    for (const { question, value } of rows.slice(0, 20)) {
      expect(judged(`Then the answer is $\\boxed{${value}}$.`, value, question), value).toBe('right');
      expect(judged(`Then the answer is $\\boxed{${value}}$. ${sentence}`, value, question), value).toBe('wrong');
    }
  });
});

describe('what stands around a box', () => {
  const COLOURS = 'Which are warm? (A) red and orange (B) about half (C) blue';
  test.each([
    ['$5x = 180$ or $x = \\boxed{36}$', '36', 'What is $x$?', 'right'],
    ['$x = 7$ or $x = \\boxed{36}$', '36', 'What is $x$?', 'wrong'],
    ['The number of ways is $6!=\\boxed{720}$.', '720', 'How many ways are there?', 'right'],
    ['The number of ways is $6!\\ne\\boxed{720}$.', '720', 'How many ways are there?', 'wrong'],
    ['so $N \\equiv \\boxed{66} \\pmod{210}$.', '66', 'What is the remainder of $N$?', 'right'],
    ['The perimeter is $\\boxed{18+2\\pi}$ units.', '18+2\\pi', 'What is the perimeter?', 'right'],
    ['The perimeter is $\\boxed{18+2\\pi}$ units.', '20\\pi', 'What is the perimeter?', 'wrong'],
    ['Thus $x = \\boxed{6}$.\n\n[asy]\ndraw((0,0)--(1,1)); label("no",(0,0));\n[/asy]', '6', 'What is $x$?', 'right'],
    ['Thus $x = \\boxed{6}$.\n\nNo, it is 7.', '6', 'What is $x$?', 'wrong'],
    ['The answer is (A) red and orange.', 'A', COLOURS, 'right'],
    ['The answer is (B) about half.', 'B', COLOURS, 'right'],
    ['The answer is (A) blue or (C).', 'A', COLOURS, 'wrong'],
    ['$2.5 \\mathrm{~m}$', '2.5', 'How long is it in meters?', 'right'],
  ])('%s for %s is judged', (answer, solution, question, verdict) => {
    expect(judged(answer, solution, question)).toBe(verdict);
  });
});
