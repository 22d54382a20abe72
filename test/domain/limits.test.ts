import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stopReason, tokenBudget } from '../../domain/rollout/ending.ts';

const SOME_LIMITS = fc.record({
  numTurns: fc.integer({ min: 1, max: 20 }),
  stop: fc.constantFrom('always' as const, 'success' as const),
});

describe('the limits of a rollout', () => {
  test('undecided goes before success, and success before max-turns', () => {
    fc.assert(
      fc.property(SOME_LIMITS, (limits) => {
        expect(stopReason(limits.numTurns, 'undecided', limits)).toBe('undecided');
        expect(stopReason(limits.numTurns, 'right', { ...limits, stop: 'success' })).toBe('success');
        expect(stopReason(limits.numTurns, 'wrong', limits)).toBe('max-turns');
      }),
    );
  });

  test('context and new tokens always fit the model, and no budget is below nothing', () => {
    const some = fc.nat(50_000);
    fc.assert(
      fc.property(some, some, some, (context, wanted, length) => {
        const budget = tokenBudget(context, wanted, length);
        expect(budget).toBeGreaterThanOrEqual(0);
        expect(budget).toBeLessThanOrEqual(wanted);
        if (budget > 0) expect(context + budget).toBeLessThanOrEqual(length);
        if (budget < wanted) expect(context + budget).toBeGreaterThanOrEqual(length);
      }),
    );
  });
});
