// Replies that models wrote, and gold solutions, with labels: does the reply's own final answer equal the reference? None was chosen by
// its verdict (natural-replies.LICENSE names the sources). Some prose never states its value: all of it cannot be reached.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { LETTERS } from '../read/choices.ts';
import { findSolution } from '../find/answer.ts';
import { judge } from '../judge.ts';

interface Reply {
  readonly corpus: string;
  readonly question?: string;
  readonly answer: string;
  readonly solutions: readonly string[];
  readonly label: boolean;
}

const replies = gunzipSync(readFileSync(new URL('natural-replies.jsonl.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Reply);
const isMarked = ({ answer }: Reply): boolean => /\\(?:boxed|fbox)|####/.test(answer);
const correct = replies.filter(({ label }) => label);

/** The share that is called right, and the ends of the others. */
function right(rows: readonly Reply[], withQuestion: boolean): { readonly share: number; readonly missed: string } {
  const missed = rows.filter(({ answer, solutions, question }) => {
    const options = withQuestion && question !== undefined ? { question } : {};
    return judge(answer, solutions, options).verdict !== 'right';
  });
  return {
    share: 1 - missed.length / rows.length,
    missed: missed.map(({ solutions, answer }) => `${solutions[0]}: … ${answer.slice(-160)}`).join('\n\n'),
  };
}

describe('a reply of a model', () => {
  test('is right where its marked answer is, in 99.7 of 100 replies', () => {
    const rows = correct.filter(isMarked);
    expect(rows.length).toBeGreaterThan(250);
    const { share, missed } = right(rows, true);
    expect(share, missed).toBeGreaterThanOrEqual(0.996);
  });

  test.each([
    ['with its question', true, 0.945],
    ['without it', false, 0.9],
  ] as const)('is right where nothing is marked, %s', (_, withQuestion, least) => {
    const rows = correct.filter((row) => !isMarked(row));
    expect(rows.length).toBeGreaterThan(150);
    const { share, missed } = right(rows, withQuestion);
    expect(share, missed).toBeGreaterThanOrEqual(least);
  });

  test('is wrong where it ends in another value, in 99.5 of 100 replies', () => {
    const rows = replies.filter(({ label }) => !label);
    expect(rows.length).toBeGreaterThan(350);
    expect(right(rows, true).share).toBeLessThanOrEqual(0.005);
  });

  test('is right by its value where the solution has a letter too, and by no letter that it does not name', () => {
    const said: string[] = [];
    for (const [i, { answer, solutions, question }] of replies.entries()) {
      const value = findSolution(solutions[0]!)?.text ?? '';
      if (/\\boxed\{(?:\\text\{)?\(?[A-J]\)?\}/.test(answer) || value === '' || value.length > 60) continue;
      const options = question === undefined ? {} : { question };
      const letter = LETTERS[i % 10]!;
      const plain = judge(answer, [value], options).verdict;
      const [own, none] = [`(${letter}) ${value}`, `(${letter}) 987654321`].map((gold) =>
        judge(answer, [gold], options),
      );
      if (own!.verdict !== plain || none!.verdict === 'right') said.push(`${letter} ${value}: … ${answer.slice(-160)}`);
    }
    expect(said).toEqual([]);
  });
});
