// One answer, judged without a workflow: the right judge, the line's options, and patience with a judge that stumbles.

import { describe, expect, test } from 'vitest';
import { JudgeError } from '../../domain/errors/errors.ts';
import type { Pair } from '../../domain/query/pair.ts';
import { judgePair, type PairJudges } from '../../environments/judge-pairs.ts';
import { judge } from '../../packages/judge/index.ts';

const right = { verdict: 'right', reason: 'all-cases' } as const;
const judges: PairJudges = {
  math: { judge: async (answer, solutions, options) => judge(answer, solutions, options) },
  code: { judge: async ({ inputOutput }) => ({ ...right, extracted: String(inputOutput?.inputs.length) }) },
};
const pair = (part: Partial<Pair>): Pair => ({ id: 'a', answer: '0.33', judge: 'math', solutions: ['1/3'], ...part });

describe('the judge of pairs', () => {
  test('a pair’s own options count', async () => {
    expect((await judgePair(pair({}), judges)).verdict).toBe('wrong');
    expect((await judgePair(pair({ options: { decimals: 2 } }), judges)).verdict).toBe('right');
  });

  test('code goes to the judge of code, with its cases', async () => {
    const inputOutput = { inputs: ['1', '2'], outputs: ['1', '2'] };
    const verdict = await judgePair(pair({ judge: 'code', solutions: [], inputOutput }), judges);
    expect(verdict).toEqual({ ...right, extracted: '2' });
  });

  test('whoever judges is told that a limit cut the answer', async () => {
    const told: unknown[] = [];
    const spies: PairJudges = {
      math: { judge: async (_, __, options) => (told.push(options?.cut), right) },
      code: { judge: async (_, __, { cut }) => (told.push(cut), right) },
    };
    await judgePair(pair({ options: { cut: true } }), spies);
    await judgePair(pair({ judge: 'code', solutions: [], options: { cut: true } }), spies);
    await judgePair(pair({ judge: 'code', solutions: [] }), spies);
    expect(told).toEqual([true, true, false]);
  });

  test.each([
    ['judged when the judge comes back', 2, right],
    ['undecided when it does not', 99, { verdict: 'undecided', reason: 'sandbox-trouble' }],
  ])('an answer whose judge breaks is %s', async (_, failures, expected) => {
    let left = failures;
    const judge = async () => {
      if (left-- > 0) throw new JudgeError('The sandbox failed', { reason: 'sandbox-trouble', retryable: true });
      return right;
    };
    expect(await judgePair(pair({ judge: 'code' }), { ...judges, code: { judge } })).toEqual(expected);
  });

  test('a judge that cannot work at all is an error, not a verdict', async () => {
    const judge = async () => {
      throw new JudgeError('The judge’s process is not built', { reason: 'not-built' });
    };
    await expect(judgePair(pair({}), { ...judges, math: { judge } })).rejects.toThrow('not built');
  });
});
