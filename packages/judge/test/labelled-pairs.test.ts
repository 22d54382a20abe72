// Every kind of answer: equal spellings are right, different values are wrong, and it is the same word every time.

import { describe, expect, test } from 'vitest';
import { judge } from '../judge.ts';
import { examineSolution } from '../solution.ts';
import { rowsOf } from '../../../test/support/rows.ts';
import { optionsOf, PAIRS, pairsIn } from './labelled-pairs.ts';

const plain = pairsIn('labelled.jsonl');

describe('the judge of math', () => {
  test.each([...PAIRS.keys()])('gives each labelled pair its verdict: %s', (kind) => {
    const pairs = PAIRS.get(kind)!;
    const otherwise = pairs.flatMap((pair) => {
      const { verdict, reason } = judge(pair.answer, pair.solutions, optionsOf(pair));
      const isSame = verdict === pair.verdict && (pair.reason ?? reason) === reason;
      return isSame || pair.missed ? [] : [{ ...pair, verdict, reason }];
    });
    expect(otherwise).toEqual([]);
  });

  test('the verdict on a box is the verdict on its content', () => {
    const otherwise = plain.filter(({ kind, solutions: [solution], answer, verdict }) => {
      if (kind.startsWith('worked') || /[.]$|[Cc]hoice|answer|[#<]|\*\*|^[$]|ANSWER/.test(answer)) return false;
      const boxed = judge(`So \\boxed{${answer}}.`, [`Hence \\boxed{${solution}}.`]);
      return (boxed.verdict === 'right') !== (verdict === 'right');
    });
    expect(otherwise).toEqual([]);
  });

  test('equality does not depend on which side is the solution, for plain values', () => {
    for (const { kind, solutions, answer, verdict } of plain) {
      // A comma in a solution parts items; in an answer it may be a decimal comma.
      if (!/integers|roots|powers|polynomials|scientific|pi, e/.test(kind) || /^(?:\d,\d)?$/.test(answer)) continue;
      const swapped = judge(solutions[0]!, [answer]).verdict;
      expect(swapped === 'right', `${solutions[0]} | ${answer}`).toBe(verdict === 'right');
    }
  });

  test('decimal places that the caller names round both sides', () => {
    expect(judge('0.33', ['1/3'], { decimals: 2 }).verdict).toBe('right');
    expect(judge('(0.6, 2.6667]', ['(3/5, 8/3]'], { decimals: 2 }).verdict).toBe('right');
    expect(judge('0.34', ['1/3'], { decimals: 2 }).verdict).toBe('wrong');
  });

  test('letters may be renamed only when the caller says so', () => {
    expect(judge('f(y)', ['f(x)'], { strict: false }).verdict).toBe('right');
    expect(judge('f(y)', ['f(x)']).verdict).toBe('wrong');
  });
});

describe('a solution', () => {
  test.each(rowsOf<{ text: string; exam: object }>('./solutions.jsonl', import.meta.url))(
    'is examined before it judges: $text is $exam',
    ({ text, exam }) => expect({ inWords: false, ...examineSolution(text) }).toMatchObject(exam),
  );

  test('of a size that is not read is refused, and so is an answer', () => {
    const large = `\\boxed{${'9+'.repeat(3_000)}9}`;
    expect(examineSolution(large)).toEqual({ usable: false, reason: 'too-big' });
    expect(judge(large, ['5'])).toMatchObject({ verdict: 'wrong', reason: 'too-big' });
  });
});
