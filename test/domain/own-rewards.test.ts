// Rewards of a user's own environment through the rules of the domain: they are taken as they are, count by turn, and
// stand beside the seed's formula where a turn has only a verdict.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutResult, scoredTurns, type StopReason, stopReason } from '../../domain/rollout/ending.ts';
import { verdictOf, replyFields } from '../../domain/rollout/environment.ts';
import { finishedTurns } from '../../domain/samples/finished-turns.ts';
import { rewardCells } from '../../domain/run/collection-table.ts';
import { addResult, noCounts, rewardMoments } from '../../domain/run/progress.ts';
import { discountedReturns } from '../../domain/rollout/reward.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { TurnFacts } from '../../domain/rollout/turn-facts.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import { spreadOf } from '../../domain/statistics/mean.ts';
import { someTurn } from './some.ts';

const REWARD = { rewardScaling: 2, rewardBias: 0.5, turnDiscount: 0.5 };
const AT = { out: 'runs', run: 'run', query: 'q', sample: 0, attempt: 1 };
const resultOf = (turns: readonly TurnFacts[], stop: StopReason = 'done') =>
  rolloutResult(AT, turns, stop, null, scoredTurns(turns, stop, REWARD));
const rewards = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 6 });

function near(found: number | null, right: number | null): void {
  if (right === null) expect(found).toBeNull();
  else expect(Math.abs(found! - right)).toBeLessThanOrEqual(1e-5 * (1 + right));
}

describe("an environment's rewards", () => {
  test('are the turn rewards as they stand, and their discounted sums are the returns', () => {
    fc.assert(
      fc.property(rewards, (given) => {
        const turns = given.map((reward, i) => someTurn({ turn: i + 1, verdict: 'scored', reason: 'reward', reward }));
        const result = resultOf(turns);
        expect(result).toMatchObject({ outcome: 'complete', stopReason: 'done', turnRewards: given });
        expect(result.returns).toEqual(discountedReturns(given, 0.5));
        expect(result.success).toEqual(given.map(() => null));
      }),
    );
  });

  test('leave a turn with a verdict alone to the formula', () => {
    const turns = [
      someTurn({ turn: 1, verdict: 'wrong' }),
      someTurn({ turn: 2, verdict: 'right', reward: 7 }),
      someTurn({ turn: 3, verdict: 'right' }),
    ];
    expect(resultOf(turns, 'max-turns').turnRewards).toEqual([-3, 7, 1]);
    expect(resultOf(turns.slice(2), 'max-turns')).not.toHaveProperty('turnRewards');
  });

  test('are counted by turn, with their mean and spread', () => {
    fc.assert(
      fc.property(fc.array(rewards, { minLength: 1, maxLength: 8 }), (rollouts) => {
        const counts = noCounts();
        for (const given of rollouts) {
          const turns = given.map((reward, i) => someTurn({ turn: i + 1, verdict: 'scored', reward }));
          addResult(counts, resultOf(turns), 6);
        }
        counts.rewardAt!.forEach((at, t) => {
          const here = rollouts.flatMap((given) => given[t] ?? []);
          const mean = here.reduce((a, b) => a + b, 0) / here.length;
          expect(at).toMatchObject({ count: here.length, min: Math.min(...here), max: Math.max(...here) });
          expect(rewardMoments(at).mean).toBeCloseTo(mean, 3);
          near(rewardMoments(at).spread, spreadOf(here));
        });
        expect(counts.judgedAt).toEqual([]);
      }),
    );
  });

  const counted = (given: readonly number[]) => {
    const counts = noCounts();
    for (const reward of given) addResult(counts, resultOf([someTurn({ turn: 1, verdict: 'scored', reward })]), 1);
    return counts;
  };

  test('are shown with the digits that tell them apart', () => {
    const eight = Array.from({ length: 8 }, (_, i) => 1e9 + i);
    expect(rewardCells(counted(eight).rewardAt![0]!)).toEqual(['1000000003.5', '2.449', '1000000000', '1000000007']);
    expect(rewardCells(counted([0.3, 0.3, 0.3]).rewardAt![0]!)).toEqual(['0.3', '0', '0.3', '0.3']);
    expect(rewardCells(counted([1]).rewardAt![0]!)).toEqual(['1', '–', '1', '1']);
    expect(rewardCells(counted([0, 1, 0]).rewardAt![0]!)).toEqual(['0.3333', '0.5774', '0', '1']);
  });

  test('of a reply without any are 0, and its verdict says so', () => {
    const reply = { messages: [{ role: 'user', content: 'On.' }] };
    expect(verdictOf(reply)).toEqual({ verdict: 'scored', reason: 'no-reward' });
    expect(replyFields(reply).reward).toBe(0);
    expect(replyFields({ verdict: { verdict: 'right', reason: 'x' } })).toEqual({});
  });

  test('stay with the finished turns of a rollout whose last turn is undecided', () => {
    const turns = (['scored', 'scored', 'undecided'] as const).map((verdict, i) => ({
      record: { turn: i + 1 },
      verdict: { turn: i + 1, verdict, reason: 'x', of: 'h', tookMs: 0, ...(i < 2 ? { reward: i + 0.5 } : {}) },
    }));
    const rollout = { settings: completeSettings('r', { turnDiscount: 1 }) };
    const end = { turns: ['a', 'b', 'c'], outcome: 'undecided' };
    const whole = finishedTurns({ rollout, turns, end } as unknown as Trajectory);
    expect(whole?.end).toMatchObject({ turnRewards: [0.5, 1.5], returns: [2, 1.5], success: [null, null] });
  });
});

describe('a rollout', () => {
  test('ends as done where its environment says so, and by its verdict before', () => {
    const limits = { numTurns: 9, stop: 'success' } as const;
    expect(stopReason(1, 'scored', limits)).toBeUndefined();
    expect(stopReason(1, 'scored', limits, true)).toBe('done');
    expect(stopReason(1, 'right', limits, true)).toBe('done');
    expect(stopReason(1, 'undecided', limits, true)).toBe('undecided');
    expect(stopReason(9, 'scored', limits)).toBe('max-turns');
  });
});
