import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  outcomeOf,
  OUTCOMES,
  recordedResult,
  rolloutResult,
  scoredTurns,
  type StopReason,
  successOf,
  unrecordedResult,
} from '../../domain/rollout/ending.ts';
import { discountedReturns, turnReward } from '../../domain/rollout/reward.ts';
import type { TurnFacts } from '../../domain/rollout/turn-facts.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import { someTurn, STOPS } from './some.ts';

const REWARD = { rewardScaling: 1, rewardBias: 0, turnDiscount: 0.5 };
const AT = { out: 'runs', run: 'run', query: 'q', sample: 0, attempt: 1 };

const resultOf = (turns: readonly TurnFacts[], stop: StopReason, failure: Parameters<typeof rolloutResult>[3] = null) =>
  rolloutResult(AT, turns, stop, failure, scoredTurns(turns, stop, REWARD));

describe('the end of a rollout', () => {
  test('every stop reason has an outcome, and every outcome a stop reason', () => {
    expect(new Set(STOPS.map(outcomeOf))).toEqual(new Set(OUTCOMES));
    expect(STOPS.filter((stop) => outcomeOf(stop) === 'complete')).toEqual(['max-turns', 'success', 'context-length']);
  });

  test('an undecided turn is neither a success nor a failure', () => {
    expect((['right', 'wrong', 'undecided'] as const).map(successOf)).toEqual([1, 0, null]);
  });

  test('a complete rollout has one discounted return per turn', () => {
    const turns = (['wrong', 'right', 'right'] as const).map((verdict, i) =>
      someTurn({ turn: i + 1, verdict, outputTokens: 10 + i }),
    );
    expect(resultOf(turns, 'max-turns')).toEqual({
      outcome: 'complete',
      stopReason: 'max-turns',
      turns: 3,
      returns: [-1 + 0.5 * 1.5, 1.5, 1],
      success: [0, 1, 1],
      verdicts: { wrong: { different: 1 }, right: { different: 2 } },
      tokens: 33,
      reason: null,
      trajectory: AT,
    });
  });

  test('a rollout that failed, was cancelled or could not be judged has no returns', () => {
    const verdicts = fc.array(fc.constantFrom<VerdictValue>('right', 'wrong'), { maxLength: 6 });
    fc.assert(
      fc.property(verdicts, fc.constantFrom(...STOPS), (played, stop) => {
        const turns = played.map((verdict, i) => someTurn({ turn: i + 1, verdict }));
        const { returns, success, outcome } = resultOf(turns, stop);
        const raw = played.map((verdict) => turnReward(verdict === 'right', REWARD));
        expect(returns).toEqual(outcome === 'complete' ? discountedReturns(raw, 0.5) : []);
        expect(success).toHaveLength(turns.length);
      }),
    );
  });

  test('the reason is the failure’s, or the judge’s where the last turn is undecided', () => {
    const turns = [someTurn(), someTurn({ turn: 2, verdict: 'undecided', reason: 'timeout' })];
    const failure = { boundary: 'model', reason: 'model-not-found', message: 'no such model' } as const;
    expect(resultOf(turns, 'undecided')).toMatchObject({
      reason: 'timeout',
      success: [0, null],
    });
    expect(resultOf(turns.slice(0, 1), 'failed', failure).reason).toBe('model-not-found');
    expect(resultOf(turns.slice(0, 1), 'cancelled').reason).toBeNull();
  });

  test('a recorded end gives the result that its rollout ended with', () => {
    const verdicts = fc.array(fc.constantFrom<VerdictValue>('right', 'wrong'), { maxLength: 6 });
    fc.assert(
      fc.property(verdicts, fc.constantFrom(...STOPS), (played, stop) => {
        const judged = stop === 'undecided' ? [...played, 'undecided' as const] : played;
        const turns = judged.map((verdict, i) =>
          someTurn({ turn: i + 1, verdict, reason: `reason ${i}`, outputTokens: i }),
        );
        const failure = stop === 'failed' ? ({ boundary: 'model', reason: 'model-not-found' } as const) : null;
        const ended = resultOf(turns, stop, failure);
        const { outcome, stopReason, returns, success } = ended;
        const records = turns.map(({ verdict, reason, outputTokens: tokens }) => ({
          tokens,
          verdict: { verdict, reason },
        }));
        expect(recordedResult(AT, { outcome, stopReason, returns, success, failure }, records)).toEqual(ended);
        expect(ended.reason).toBe(
          stop === 'failed' ? 'model-not-found' : stop === 'undecided' ? `reason ${played.length}` : null,
        );
      }),
    );
  });

  test('a rollout that recorded no end failed for its reason, or was cancelled', () => {
    const nothing = { turns: 0, returns: [], success: [], tokens: 0, trajectory: AT };
    const failed = { outcome: 'failed', stopReason: 'failed', reason: 'terminated', boundary: 'temporal' };
    const cancelled = { outcome: 'cancelled', stopReason: 'cancelled', reason: null };
    expect(unrecordedResult(AT, { reason: 'terminated', boundary: 'temporal' })).toEqual({ ...failed, ...nothing });
    expect(unrecordedResult(AT, null)).toEqual({ ...cancelled, ...nothing });
  });
});
