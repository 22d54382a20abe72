import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stopReason, tokenBudget } from '../../domain/rollout/ending.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';

const SOME_LIMITS = fc.record({
  numTurns: fc.integer({ min: 1, max: 20 }),
  stop: fc.constantFrom('always' as const, 'success' as const),
});
const SOME_VERDICT = fc.constantFrom<VerdictValue>('right', 'wrong', 'undecided');

describe('the limits of a rollout', () => {
  test('plays all turns after a right answer, unless told to stop at success', () => {
    expect(stopReason(1, 'right', { numTurns: 5, stop: 'always' })).toBeUndefined();
    expect(stopReason(5, 'right', { numTurns: 5, stop: 'always' })).toBe('max-turns');
    expect(stopReason(1, 'right', { numTurns: 5, stop: 'success' })).toBe('success');
    expect(stopReason(1, 'wrong', { numTurns: 5, stop: 'success' })).toBeUndefined();
  });

  test('undecided goes before success, and success before max-turns', () => {
    fc.assert(
      fc.property(SOME_LIMITS, (limits) => {
        expect(stopReason(limits.numTurns, 'undecided', limits)).toBe('undecided');
        expect(stopReason(limits.numTurns, 'right', { ...limits, stop: 'success' })).toBe('success');
        expect(stopReason(limits.numTurns, 'wrong', limits)).toBe('max-turns');
      }),
    );
  });

  test('no rollout plays more turns than it was given, whatever the verdicts', () => {
    fc.assert(
      fc.property(SOME_LIMITS, fc.infiniteStream(SOME_VERDICT), (limits, verdicts) => {
        let turn = 0;
        for (const verdict of verdicts) if (stopReason(++turn, verdict, limits) !== undefined) break;
        expect(turn).toBeLessThanOrEqual(limits.numTurns);
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
