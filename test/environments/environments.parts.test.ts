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

describe('the environments', () => {
  test('a task without a judge is undecided, never wrong', async () => {
    const verdict = await judgeByTask().judge(queryOf('code', {}), 'print(1)', { signal });
    expect(verdict).toEqual({ verdict: 'undecided', reason: 'no-code-judge' });
  });
});
