// Worked solutions as people write them, without a mark of the answer: every 37th of the GSM8K training set (openai/grade-school-math, MIT
// licence) whose last line holds the answer, without its `####` line. The rates may only get better.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

interface Worked {
  readonly question: string;
  readonly answer: string;
  readonly solution: string;
}
const ROWS = readFileSync(new URL('./worked.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Worked);
const judged = ({ question, answer }: Worked, solution: string): string =>
  judgeMath(answer, [solution], { question }).verdict;

describe('a worked solution without a mark of its answer', () => {
  test('is right in at least 92 of 100', () => {
    const missed = ROWS.filter((row) => judged(row, row.solution) !== 'right');
    expect(ROWS.length).toBeGreaterThan(190);
    expect(missed.length / ROWS.length, missed.map(({ answer }) => answer).join('\n\n')).toBeLessThanOrEqual(0.08);
  });

  test('is wrong for every other value', () => {
    const others = (value: number): number[] => [value + 1, value * 2, value / 10, -value].filter((v) => v !== value);
    const taken = ROWS.flatMap((row) =>
      others(Number(row.solution.replaceAll(',', '')))
        .filter((value) => judged(row, String(value)) === 'right')
        .map((value) => `${value}: ${row.answer}`),
    );
    expect(taken).toEqual([]);
  });
});
