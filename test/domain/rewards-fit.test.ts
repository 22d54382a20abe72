// What no export can hold is no setting: held against float32 arrays, by rewards of every turn and ending.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../run/config.ts';
import { discountedReturns, turnReward, unfitRewards } from '../../domain/rollout/reward.ts';

describe('the settings of a reward', () => {
  test('are refused exactly where float32 cannot hold what they can make', () => {
    const number = fc.oneof(
      fc.double({ min: -1e45, max: 1e45, noNaN: true }),
      fc.tuple(fc.integer({ min: -60, max: 60 }), fc.constantFrom(1, -1)).map(([e, sign]) => sign * 10 ** e),
    );
    const settings = fc.record({
      rewardScaling: number,
      rewardBias: number,
      turnDiscount: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(settings, fc.integer({ min: 1, max: 6 }), (given, turns) => {
        fc.pre(given.rewardScaling !== 0);
        if (unfitRewards(given, turns) !== null) return;
        expect(Math.fround(turnReward(true, given))).not.toBe(Math.fround(turnReward(false, given)));
        for (let endings = 0; endings < 2 ** turns; endings++) {
          const rewards = Array.from({ length: turns }, (_, t) => turnReward(((endings >> t) & 1) === 1, given));
          expect(discountedReturns(rewards, given.turnDiscount).map(Math.fround).every(Number.isFinite)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    { rewardScaling: 1e39 },
    { rewardScaling: -2e38, numTurns: 3 },
    { rewardScaling: 1e-50 },
    { rewardBias: 1e10 },
    { rewardBias: 1e20 },
    { rewardScaling: 1e308, rewardBias: 1e308 },
  ])('are refused by name: %j', (given) => {
    expect(() => parseSettings('r', given)).toThrow(expect.objectContaining({ reason: 'bad-rewards' }));
  });

  test.each([
    {},
    { rewardScaling: 0 },
    { rewardScaling: 2, rewardBias: 0.5 },
    { rewardScaling: -1e30 },
    { rewardScaling: 3e38, numTurns: 1000, turnDiscount: 0 },
  ])('are taken: %j', (given) => {
    expect(parseSettings('r', given)).toMatchObject(given);
  });
});
