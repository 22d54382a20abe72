// Answers as competition data sets and models write them, by the layout of the set: another form of the same value
// is right, and a near miss is wrong. The file was written before the judge was asked.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

interface Group {
  readonly layout: string;
  readonly solution: string;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const groups = readFileSync(new URL('./honest-forms.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Group);
const pairs = (side: 'right' | 'wrong'): { layout: string; solution: string; answer: string }[] =>
  groups.flatMap((group) => group[side].map((answer) => ({ layout: group.layout, solution: group.solution, answer })));

/** The pairs of one side that got another verdict, and what the judge said of them. */
const misses = (side: 'right' | 'wrong'): string[] =>
  pairs(side).flatMap(({ layout, solution, answer }) => {
    const { verdict, reason, extracted } = judgeMath(answer, [solution]);
    return verdict === side
      ? []
      : [`${layout}: ${JSON.stringify([solution, answer, verdict, reason, extracted ?? ''])}`];
  });

describe('an answer in the layout of a known data set', () => {
  test('is right in at least 98 of 100 equal forms', () => {
    const missed = misses('right');
    if (missed.length > 0) console.log(`${missed.length} of ${pairs('right').length} missed:\n${missed.join('\n')}`);
    expect(missed.length / pairs('right').length).toBeLessThanOrEqual(0.02);
  });

  test('is wrong where the value is another, and says so', () => {
    expect(misses('wrong')).toEqual([]);
  });
});
