// Lines in, verdicts out: in order, each line on its own.

import { expect, test } from 'vitest';
import { judgePairs, type JudgePairsOptions, type PairVerdict } from '../../environments/judge-pairs.ts';
import { judgeMath } from '../../environments/math/judge.ts';
import type { MathJudge } from '../../environments/math/math-environment.ts';

/** The judge without its processes; later lines are answered earlier. */
const math: MathJudge = {
  judge: async (answer, solutions, options) => {
    await new Promise((resolve) => setTimeout(resolve, answer.length % 3));
    return judgeMath(answer, solutions, options);
  },
  warm: () => undefined,
  close: () => undefined,
  pids: [],
};

async function judged(rows: readonly unknown[], options?: JudgePairsOptions) {
  const lines = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row)));
  const verdicts: PairVerdict[] = [];
  for await (const verdict of judgePairs(lines, { math }, options)) verdicts.push(verdict);
  return verdicts;
}

test('gives one verdict a line, in the lines’ order, with the line’s id or number', async () => {
  const rows = Array.from({ length: 40 }, (_, n) => ({ answer: 'x'.repeat(n % 5) + n, solutions: [String(n)] }));
  const verdicts = await judged([{ id: 'first', answer: '\\boxed{2}', solutions: ['2'] }, ...rows], { concurrency: 4 });
  expect(verdicts.map((v) => v.id)).toEqual(['first', ...rows.map((_, n) => String(n + 2))]);
  expect(verdicts[0]).toEqual({ id: 'first', verdict: 'right', reason: 'equal-text', extracted: '2' });
});

test('a line’s own options count', async () => {
  const row = { answer: '0.33', solutions: ['1/3'] };
  const [plain, two] = await judged([row, { ...row, options: { decimals: 2 } }]);
  expect([plain?.verdict, two?.verdict]).toEqual(['wrong', 'right']);
});

test.each([
  ['{"answer": "1"', 'not JSON'],
  ['[1]', 'not an object'],
  [{ solutions: ['1'] }, '`answer`'],
  [{ answer: '1' }, '`solutions`'],
  [{ answer: '1', solutions: [1] }, '`solutions`'],
  [{ answer: '1', solutions: ['1'], options: { decimals: 1.5 } }, '`options.decimals`'],
  [{ answer: '1', solutions: ['1'], options: 'x' }, '`options`'],
])('a line that cannot be read is undecided and says why: %j', async (row, problem) => {
  const [bad, good] = await judged([row, { answer: '1', solutions: ['1'] }]);
  expect(bad).toMatchObject({ verdict: 'undecided', reason: 'bad-line' });
  expect(bad?.problem).toContain(problem);
  expect(good?.verdict).toBe('right');
});

test('code without a judge for it is undecided', async () => {
  const [verdict] = await judged([{ id: 'c', answer: 'print(1)', input_output: { inputs: ['1'], outputs: ['1'] } }]);
  expect(verdict).toEqual({ id: 'c', verdict: 'undecided', reason: 'no-code-judge' });
});
