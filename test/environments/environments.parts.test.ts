import { describe, expect, test } from 'vitest';
import { JudgeError } from '../../domain/errors/errors.ts';
import { judgeByTask } from '../../environments/index.ts';
import { createMathJudge } from '../../environments/math-environment.ts';
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

  test('a judge of mathematics that cannot start is an error of ours that another try may mend, and no verdict', async () => {
    const judge = createMathJudge({ entry: '/nowhere/child.js' });
    const error: unknown = await judge.judge('5', ['5']).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(JudgeError);
    expect(error).toMatchObject({ reason: 'judge-process', retryable: true, fix: expect.stringContaining('memory') });
    judge.close();
  });
});
