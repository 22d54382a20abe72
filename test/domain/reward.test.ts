import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { discountedReturns, turnReward } from '../../domain/rollout/reward.ts';

const PLAIN = { rewardScaling: 1, rewardBias: 0, turnDiscount: 1 };

describe('rewards', () => {
  test('a right answer earns 1 and a wrong one −1', () => {
    expect([turnReward(true, PLAIN), turnReward(false, PLAIN)]).toEqual([1, -1]);
  });

  test('the bias is taken off before the scaling', () => {
    const settings = { ...PLAIN, rewardScaling: 2, rewardBias: 0.25 };
    expect([turnReward(true, settings), turnReward(false, settings)]).toEqual([1.5, -2.5]);
  });

  test('a return is the sum of all later rewards, each discounted by its distance', () => {
    const reward = fc.double({ min: -10, max: 10, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(reward, { maxLength: 12 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (rewards, discount) => {
          const returns = discountedReturns(rewards, discount);
          expect(returns).toHaveLength(rewards.length);
          returns.forEach((value, t) => {
            const direct = rewards.slice(t).reduce((sum, r, k) => sum + discount ** k * r, 0);
            expect(value).toBeCloseTo(direct, 9);
          });
        },
      ),
    );
  });

  test('returns are computed backwards, to the bit', () => {
    const [a, b, c] = [0.1, 0.2, 0.3];
    expect(discountedReturns([a, b, c], 0.9)).toEqual([a + 0.9 * (b + 0.9 * c), b + 0.9 * c, c]);
    expect(discountedReturns([-1, -1, 1], 0)).toEqual([-1, -1, 1]);
  });
});
