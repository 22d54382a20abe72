// Rewards of an agent's calls, their returns along its tree, and their advantages in a group, by random trees.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replyForm } from '../../domain/agent/reply-form.ts';
import type { AskedCall } from '../../domain/agent/call-record.ts';
import { isTrainedCall, parseTrainCalls } from '../../domain/agent/train-calls.ts';
import {
  callDepths,
  callReturns,
  keptCalls,
  mean,
  scoredCalls,
  untrainedCalls,
} from '../../domain/rollout/call-credit.ts';
import { callAdvantages, comparedCalls, spreadsOf } from '../../domain/samples/call-advantages.ts';
import { groupLabels, memberAdvantages, scoredMember, turnAdvantages } from '../../domain/samples/group.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

type Call = Pick<TurnRecord, 'turn' | 'asked'>;

const callOf = (parent: number | null, i: number): Call => ({ turn: i + 1, asked: { parent } }) as unknown as Call;
/** `parents`: of each call, 0 for a root. */
const tree = (...parents: number[]): Call[] => parents.map((parent, i) => callOf(parent || null, i));
const TREES = fc
  .array(fc.nat(), { minLength: 1, maxLength: 12 })
  .map((any) => tree(...any.map((parent, i) => parent % (i + 1))));
const SETTINGS = { rewardScaling: 1, rewardBias: 0, turnDiscount: 0.5 };

describe('returns of calls', () => {
  test('are the own reward, and the discounted mean of those that extend the call; a leaf has the reward of the rollout', () => {
    // 1 is extended by 2 and 3, 2 by 4; 5 stands alone.
    const calls = tree(0, 1, 1, 2, 0);
    const rewards = [0, 1, 0, 2, 8];
    expect(callReturns(calls, { rewards, final: 4, discount: 0.5 })).toEqual([2, 4, 4, 6, 12]);
    expect(callReturns(calls, { rewards, final: 4, discount: 0 })).toEqual([0, 1, 4, 6, 12]);
    expect(callDepths(calls)).toEqual([0, 1, 1, 2, 0]);
  });

  test('leave an abandoned call out of those before it, unless it leads to one that is not', () => {
    const calls = tree(0, 1, 1, 3);
    const rewards = [0, 1, 0, 0];
    expect(callReturns(calls, { rewards, final: 0, discount: 1 }, [])[0]).toBe(0.5);
    expect(callReturns(calls, { rewards, final: 0, discount: 1 }, [2])).toEqual([0, 1, 0, 0]);
    expect([...keptCalls(calls, [2, 3])].toSorted()).toEqual([1, 3, 4]);
    expect([...keptCalls(calls, [1, 2, 3, 4])]).toEqual([]);
  });

  test('are that of the rollout, to the bit, without rewards of calls and a discount', () => {
    fc.assert(
      fc.property(TREES, fc.double({ noNaN: true, min: -9, max: 9 }), (calls, final) => {
        const rewards = calls.map(() => 0);
        expect(new Set(callReturns(calls, { rewards, final, discount: 1 }))).toEqual(new Set([0 + final]));
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  test('follow from the verdicts: the return of the judged call has its own reward beside that of the rollout', () => {
    const said = [
      { verdict: 'called', callReward: 0.25 },
      { verdict: 'right', callReward: -0.5 },
    ] as const;
    const scored = scoredCalls(tree(0, 1), said, 'done', SETTINGS);
    expect(scored).toMatchObject({ turnRewards: [0.25, 1], returns: [0.5, 0.5], success: [null, 1], called: [1] });
    const own = [said[0], { verdict: 'scored', reward: 3 }] as const;
    expect(scoredCalls(tree(0, 1), own, 'done', SETTINGS)).toMatchObject({
      turnRewards: [0.25, 3],
      returns: [1.75, 3],
    });
    // Nothing is known of a rollout that nobody judged.
    const open = [said[0], { verdict: 'undecided' }] as const;
    expect(scoredCalls(tree(0, 1), open, 'undecided', SETTINGS).turnRewards).toEqual([0.25]);
    expect(scoredCalls([], [], 'failed', SETTINGS)).toMatchObject({ turnRewards: [], returns: [] });
  });
});

describe('advantages of calls', () => {
  const endOf = (calls: readonly Call[], returns: readonly number[], more: Partial<EndRecord> = {}) =>
    ({
      outcome: 'complete',
      success: [],
      returns,
      branches: 1,
      depths: callDepths(calls),
      ...more,
    }) as unknown as EndRecord;

  test('are those of their rollouts, to the bit, where every call has the return of its rollout', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(TREES, fc.double({ noNaN: true, min: -9, max: 9 })), { minLength: 1 }),
        (members) => {
          const ends = members.map(([calls, value]) =>
            endOf(
              calls,
              calls.map(() => value),
            ),
          );
          const ofRollouts = turnAdvantages(members.map(([, value]) => [value]));
          expect(memberAdvantages(ends, 'std')).toEqual(
            members.map(([calls], i) => calls.map(() => ofRollouts[i]![0])),
          );
        },
      ),
      { seed: 4, numRuns: 200 },
    );
  });

  test('compare a call with those as deep as it, each rollout weighing one, a short one by its deepest', () => {
    const ends = [endOf(tree(0, 1), [1, 3]), endOf(tree(0, 1, 1), [2, 6, 8]), endOf(tree(0), [0])];
    // At depth 0: 1, 2, 0. At depth 1: 3, the mean of 6 and 8, and 0.
    expect(callAdvantages(ends, false)).toEqual([[0, 3 - 10 / 3], [1, 6 - 10 / 3, 8 - 10 / 3], [-1]]);
    expect(callAdvantages([ends[0]!, null], true)).toEqual([[0, 0], []]);
  });

  test('see neither abandoned nor untrained calls', () => {
    const end = endOf(tree(0, 1, 0), [1, 5, 7], { abandoned: [2], untrained: [3] });
    expect(comparedCalls(end)).toEqual([{ depth: 0, value: 1 }]);
    expect(callAdvantages([end, endOf(tree(0), [3])], false)[0]).toEqual([-1, 3, 0]);
    // Nobody is compared at its depth: divided, its own return would be thousands.
    const lone = endOf(tree(0, 1), [0, 0.0125], { untrained: [2] });
    expect(callAdvantages([lone, lone], true)).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('are there in a group whose first calls have equal returns, and in none where all calls do', () => {
    const varied = [endOf(tree(0, 1), [0, 1]), endOf(tree(0, 1), [0, 0])];
    const same = [endOf(tree(0, 1), [0, 1]), endOf(tree(0, 1), [0, 1])];
    expect(groupLabels(varied.map(scoredMember)).zeroVariance).toBe(false);
    expect(groupLabels(same.map(scoredMember)).zeroVariance).toBe(true);
    expect(spreadsOf([])).toEqual([]);
    expect(scoredMember({ ...same[0]!, branches: 0 })).toBeNull();
    expect(mean([0.1, 0.1, 0.1])).toBe(0.1);
  });
});

describe('the choice of calls that are trained', () => {
  test.each([
    ['tag=main', { tag: 'main' }, true],
    ['tag=main', { tag: 'title' }, false],
    ['tag=main', {}, false],
    ['tag=a, b', { tag: 'b' }, true],
    ['tag!=title', {}, true],
    ['tag!=title', { tag: 'title' }, false],
    ['model=main', { model: 'main' }, true],
    ['model!=small', { model: 'small' }, false],
    ['model=a=b', { model: 'a=b' }, true],
    ['tag=main', { tag: 'main', train: false as const }, false],
    [undefined, { train: false as const }, false],
    [undefined, {}, true],
  ])('%s of %j is %s', (chosen, call, is) => {
    expect(isTrainedCall(call, chosen)).toBe(is);
  });

  test('that a server held to a form is trained only with the sets that it was drawn from', () => {
    const asked = { parent: null, limits: { form: replyForm('json', {}) } } as unknown as AskedCall;
    const calls = [
      { turn: 1, asked },
      { turn: 2, asked, kept: 'AQA=' },
      { turn: 3, asked: { ...asked, train: false as const }, kept: 'AQA=' },
      { turn: 4, asked: { ...asked, limits: {} } },
    ];
    expect(untrainedCalls(calls, {})).toEqual([1, 3]);
  });

  test.each(['', 'main', 'tag=', 'name=main', 'tag=a,,b', 'tag!main', 'tag==a', 'tag=a&model=b', "tag='a'", 'tag=*'])(
    'is not %j',
    (text) => {
      expect(parseTrainCalls(text)).toBeUndefined();
    },
  );
});
