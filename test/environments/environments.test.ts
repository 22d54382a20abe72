import { describe, expect, test } from 'vitest';
import { judgeByTask } from '../../environments/index.ts';
import { environmentContract, queryOf } from '../contract/environment.ts';

const sample = {
  query: { solutions: ['The total is 6 * 7.\n#### 42'] },
  right: 'So \\boxed{42}.',
  wrong: '\\boxed{41}',
};
environmentContract('math', 'math', judgeByTask, sample);
environmentContract('stem', 'stem', judgeByTask, sample);

const signal = new AbortController().signal;
const ask = (solutions: string[], answer: string) =>
  judgeByTask().judge(queryOf('math', { solutions }), answer, { signal });

describe('the environments', () => {
  test('any of several solutions makes an answer right', async () => {
    expect((await ask(['1', '\\boxed{\\frac{1}{2}}'], 'it is 0.50')).verdict).toBe('right');
  });

  test('numbers are compared exactly, never as floats', async () => {
    const big = '9'.repeat(40);
    expect((await ask([big], `\\boxed{${big}}`)).verdict).toBe('right');
    expect((await ask([big], `\\boxed{1${'0'.repeat(40)}}`)).verdict).toBe('wrong');
  });

  test('the last box counts, with nested braces', async () => {
    expect((await ask(['\\frac{3}{4}'], '\\boxed{1} no, \\boxed{\\frac{3}{4}}')).verdict).toBe('right');
  });

  test('a cut-off box is no answer, whatever stood before it', async () => {
    expect(await ask(['5'], '5 so \\boxed{5')).toMatchObject({ verdict: 'wrong', reason: 'cut-off' });
  });

  test('a task without a judge is undecided, never wrong', async () => {
    const verdict = await judgeByTask().judge(queryOf('code', {}), 'print(1)', { signal });
    expect(verdict).toEqual({ verdict: 'undecided', reason: 'no-code-judge' });
  });
});
