// `check` and a result that counts rollouts with a person's message: left out of the accuracy, or not.

import { describe, expect, test } from 'vitest';
import { addResult, noCounts } from '../../../domain/run/progress.ts';
import { countedOf, resultProblems } from '../../../records/check/result.ts';
import type { CheckedRollout } from '../../../records/check/checked.ts';

const end = (success: readonly (0 | 1)[], said?: readonly number[]) => ({
  outcome: 'complete' as const,
  stopReason: 'max-turns' as const,
  failure: null,
  turnRewards: [],
  returns: success,
  success,
  turns: [],
  finishedAt: 1,
  ...(said && { said }),
});
const rollout = (query: string, success: readonly (0 | 1)[], said?: readonly number[]) =>
  ({
    id: { run: 'r1', query, sample: 0, attempt: 1 },
    end: end(success, said),
    turns: [],
    verdicts: [],
  }) as unknown as CheckedRollout;

function problems(counts: Partial<ReturnType<typeof noCounts>>): string[] {
  const all = { ...noCounts(), outcomes: { ...noCounts().outcomes, complete: 2 }, ...counts };
  const is = noCounts();
  addResult(is, countedOf(rollout('a', [0, 1]))!, 2);
  addResult(is, countedOf(rollout('b', [1, 1], [2]))!, 2);
  return [...resultProblems({ run: 'r1', total: 2, cancelled: false, numTurns: 2, counts: all }, is, 2, undefined)];
}

describe('a result with a rollout that a person wrote into', () => {
  test('is sound if that one is in no accuracy', () =>
    expect(problems({ judgedAt: [1, 1], rightAt: [0, 1], rightBy: [0, 1], steered: 1 })).toEqual([]));
  test.each([
    ['says that none was steered and leaves one out', { judgedAt: [1, 1], rightAt: [0, 1], rightBy: [0, 1] }],
    ['counts it and says that it does not', { judgedAt: [2, 2], rightAt: [1, 2], rightBy: [1, 2], steered: 1 }],
    ['invents a second one', { judgedAt: [1, 1], rightAt: [0, 1], rightBy: [0, 1], steered: 2 }],
  ])('is a breach if it %s', (_, counts) => expect(problems(counts)).not.toEqual([]));
});
