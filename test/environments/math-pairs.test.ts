// Every kind of answer: equal spellings are right, different values are wrong, and it is the same word every time.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

interface Pair {
  readonly kind: string;
  readonly verdict: 'right' | 'wrong' | 'undecided';
  readonly solutions: readonly [string];
  readonly answer: string;
  readonly question?: string;
}

const read = (name: string): Pair[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Pair);
const labelled = read('./math-pairs.jsonl').map((pair) => ({ ...pair, solution: pair.solutions[0] }));
const forms = read('./equal-forms.jsonl');
/** Each kind of answer: at least twenty equal pairs and twenty near misses, written before the judge was asked. */
const kinds = new Map<string, Pair[]>();
for (const pair of read('./math-kinds.jsonl')) kinds.set(pair.kind, [...(kinds.get(pair.kind) ?? []), pair]);

describe('the judge of math', () => {
  test.each([...new Set(labelled.map(({ kind }) => kind))])('gives each labelled pair its verdict: %s', (kind) => {
    const otherwise = labelled
      .filter((pair) => pair.kind === kind)
      .flatMap((pair) => {
        const { verdict, reason } = judgeMath(pair.answer, pair.solutions);
        return verdict === pair.verdict ? [] : [{ ...pair, verdict, reason }];
      });
    expect(otherwise).toEqual([]);
  });

  test.each([...kinds.keys()])('tells equal from near for every pair of %s', (kind) => {
    const pairs = kinds.get(kind) ?? [];
    const count = (verdict: string): number => pairs.filter((pair) => pair.verdict === verdict).length;
    expect(count('wrong')).toBeGreaterThanOrEqual(18);
    if (kind !== 'answers that say nothing') expect(count('right')).toBeGreaterThanOrEqual(20);
    for (const { answer, solutions, verdict } of pairs)
      expect(judgeMath(answer, solutions), `${solutions[0]} | ${answer}`).toMatchObject({ verdict });
  });

  test('gives equal forms and near misses that others wrote their verdicts', () => {
    const otherwise = forms.filter(({ answer, solutions, verdict, question }) => {
      const options = question === undefined ? {} : { question };
      return judgeMath(answer, solutions, options).verdict !== verdict;
    });
    expect(otherwise).toEqual([]);
  });

  test('the verdict on a box is the verdict on its content', () => {
    const otherwise = labelled.filter(({ kind, solution, answer, verdict }) => {
      if (kind.startsWith('worked') || /[.]$|[Cc]hoice|answer|[#<]|\*\*|^[$]|ANSWER/.test(answer)) return false;
      const boxed = judgeMath(`So \\boxed{${answer}}.`, [`Hence \\boxed{${solution}}.`]);
      return (boxed.verdict === 'right') !== (verdict === 'right');
    });
    expect(otherwise).toEqual([]);
  });

  test('decimal places that the caller names round both sides', () => {
    expect(judgeMath('0.33', ['1/3'], { decimals: 2 }).verdict).toBe('right');
    expect(judgeMath('(0.6, 2.6667]', ['(3/5, 8/3]'], { decimals: 2 }).verdict).toBe('right');
    expect(judgeMath('0.34', ['1/3'], { decimals: 2 }).verdict).toBe('wrong');
  });

  test('letters may be renamed only when the caller says so', () => {
    expect(judgeMath('f(y)', ['f(x)'], { strict: false }).verdict).toBe('right');
    expect(judgeMath('f(y)', ['f(x)']).verdict).toBe('wrong');
  });

  test('equality does not depend on which side is the solution, for plain values', () => {
    const plain = labelled.filter(({ kind }) => /integers|roots|powers|polynomials|scientific|pi, e/.test(kind));
    for (const { solution, answer, verdict } of plain) {
      // A comma in a solution parts items; in an answer it may be a decimal comma.
      if (answer === '' || /^\d,\d$/.test(answer)) continue;
      const swapped = judgeMath(solution, [answer]).verdict;
      expect(swapped === 'right', `${solution} | ${answer}`).toBe(verdict === 'right');
    }
  });
});
