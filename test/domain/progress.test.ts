import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addResult, countEnded, noCounts } from '../../domain/run/progress.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { someResult } from './some.ts';

const TURNS = 4;
const SOME_RESULTS = fc.array(someResult(TURNS), { maxLength: 40 });

function counted(results: readonly RolloutResult[]) {
  const counts = noCounts();
  for (const result of results) addResult(counts, result, TURNS);
  return counts;
}

describe('the counts of a run', () => {
  test('counts add up', () => {
    fc.assert(
      fc.property(SOME_RESULTS, (results) => {
        const counts = counted(results);
        const unhappy = counts.outcomes.failed + counts.outcomes.undecided;
        expect(countEnded(counts)).toBe(results.length);
        expect(Object.values(counts.reasons).reduce((a, b) => a + b, 0)).toBe(unhappy);
        expect(counts.failures).toHaveLength(Math.min(unhappy, 20));
        expect(counts.turns).toBe(results.reduce((sum, r) => sum + r.turns, 0));
        expect(counts.tokens).toBe(results.reduce((sum, r) => sum + r.tokens!, 0));
        expect(counts.judgedAt.reduce((a, b) => a + b, 0)).toBe(
          results.flatMap((r) => r.success.filter((s) => s !== null)).length,
        );
        counts.judgedAt.forEach((judged, i) => {
          expect(judged).toBe(results.filter((r) => r.success[i] != null).length);
          expect(counts.rightAt[i]).toBe(results.filter((r) => r.success[i] === 1).length);
        });
      }),
    );
  });

  test('a rollout that was right once counts as right by every later turn, however it ended', () => {
    fc.assert(
      fc.property(SOME_RESULTS, (results) => {
        const { rightBy, rightAt } = counted(results);
        rightBy.forEach((n, i) => {
          expect(n).toBe(results.filter((r) => r.success.slice(0, i + 1).includes(1)).length);
          expect(n).toBeGreaterThanOrEqual(Math.max(rightAt[i] ?? 0, rightBy[i - 1] ?? 0));
        });
        if (results.some((r) => r.success.includes(1))) expect(rightBy).toHaveLength(TURNS);
      }),
    );
  });

  test('verdicts are counted by reason', () => {
    const [result] = fc.sample(someResult(TURNS), 1);
    const counts = noCounts();
    addResult(counts, { ...result!, verdicts: { wrong: { different: 2, 'cut-off': 1 }, right: { equal: 1 } } }, TURNS);
    addResult(counts, result!, TURNS);
    addResult(counts, { ...result!, verdicts: { wrong: { 'cut-off': 4 }, undecided: { constructor: 1 } } }, TURNS);
    expect(counts.verdicts).toEqual({
      wrong: { different: 2, 'cut-off': 5 },
      right: { equal: 1 },
      undecided: { constructor: 1 },
    });
  });

  test('the state of a collection stays small however many rollouts fail', () => {
    const counts = noCounts();
    const [failed] = fc.sample(
      someResult(TURNS).filter((r) => r.outcome === 'failed'),
      1,
    );
    for (let i = 0; i < 10_000; i++) addResult(counts, failed!, TURNS);
    expect(counts.failures).toHaveLength(20);
    expect(JSON.stringify(counts).length).toBeLessThan(10_000);
  });
});
