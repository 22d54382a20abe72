// Rollouts that a person had a part in change no number: the statistics are those of the run without them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import type { RolloutSummary, RunSize } from '../../domain/rollout/rollout-summary.ts';
import { byField } from '../../domain/statistics/by-field.ts';
import { comparison } from '../../domain/statistics/comparison.ts';
import { provisional } from '../../domain/statistics/in-progress.ts';
import { runStatistics } from '../../domain/statistics/run-statistics.ts';
import { someResult } from '../domain/some.ts';
import { rolloutOf } from './rollouts.ts';

const QUERIES = ['a', 'b', 'c', 'd'];
const SHAPE: RunSize = { queries: 4, samples: 2, epochs: 1, numTurns: 2, stop: 'always' };

const SOME = fc
  .array(
    fc.record({
      success: fc.array(fc.constantFrom(0, 1) as fc.Arbitrary<0 | 1>, { minLength: 2, maxLength: 2 }),
      part: fc.constantFrom(undefined, undefined, 'message', 'fork') as fc.Arbitrary<'message' | 'fork' | undefined>,
      open: fc.boolean(),
    }),
    { minLength: 8, maxLength: 8 },
  )
  .map((all) =>
    all.map(({ success, part, open }, i) =>
      rolloutOf(QUERIES[Math.floor(i / 2)]!, success, {
        index: Math.floor(i / 2),
        sample: i % 2,
        ...(open && i % 3 === 0 && { outcome: null }),
        ...(part && { steered: part }),
      }),
    ),
  );

const plain = (rollouts: readonly RolloutSummary[]) => rollouts.filter(({ steered }) => !steered);

describe('rollouts that a person had a part in', () => {
  test('change no number of the statistics, and are counted apart', () => {
    fc.assert(
      fc.property(SOME, (rollouts) => {
        const { steered, total, provisional: _, ...numbers } = runStatistics(rollouts, SHAPE);
        const { steered: none, total: all, provisional: _p, ...others } = runStatistics(plain(rollouts), SHAPE);
        expect(numbers).toEqual(others);
        expect(none).toEqual({ message: 0, fork: 0 });
        expect(steered.message + steered.fork).toBe(rollouts.length - plain(rollouts).length);
        expect(total).toBe(all - steered.message - steered.fork);
      }),
      { numRuns: 60 },
    );
  });

  test('leave a run that has ended without provisional numbers, and break no closed prefix', () => {
    const ended = QUERIES.flatMap((query, index) =>
      [0, 1].map((sample) =>
        rolloutOf(query, [0, 1], { index, sample, ...(index === 0 && sample === 1 && { steered: 'message' }) }),
      ),
    );
    expect(provisional(ended, SHAPE, 2)).toBeNull();
    const found = provisional(ended.slice(0, 5), SHAPE, 2);
    expect(found).toMatchObject({ of: 7, ended: 4, closedPrefix: { length: 4 } });
  });

  test('are in no pair of a comparison', () => {
    const queries = new Map(QUERIES.map((query) => [query, { prompt: query, solutions: '', judge: 'math' }]));
    fc.assert(
      fc.property(SOME, SOME, (a, b) => {
        const { steered, ...found } = comparison({ rollouts: a, queries }, { rollouts: b, queries }, { atTurn: 2 });
        const { steered: _, ...others } = comparison(
          { rollouts: plain(a), queries },
          { rollouts: plain(b), queries },
          { atTurn: 2 },
        );
        expect(found).toEqual(others);
        expect(steered.map(({ message, fork }) => message + fork)).toEqual(
          [a, b].map((run) => run.length - plain(run).length),
        );
      }),
      { numRuns: 40 },
    );
  });

  test('count in a run’s result as rollouts, turns and tokens, and in no accuracy', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(someResult(3), fc.boolean()), { maxLength: 20 }), (results) => {
        const [all, own] = [noCounts(), noCounts()];
        for (const [result, steered] of results) {
          addResult(all, steered ? { ...result, steered } : result, 3);
          if (!steered) addResult(own, result, 3);
        }
        expect([all.judgedAt, all.rightAt, all.rightBy]).toEqual([own.judgedAt, own.rightAt, own.rightBy]);
        expect(all.steered ?? 0).toBe(results.filter(([, steered]) => steered).length);
        expect(all.turns).toBe(results.reduce((sum, [{ turns }]) => sum + turns, 0));
      }),
      { numRuns: 60 },
    );
  });
});

describe('statistics by a field', () => {
  test('are those of each part alone, in natural order, queries without a value last', () => {
    fc.assert(
      fc.property(SOME, (rollouts) => {
        const values = new Map([
          ['a', 'Level 10'],
          ['b', 'Level 2'],
          ['c', 'Level 10'],
        ]);
        const groups = byField(rollouts, SHAPE, values, { ks: [1, 2] });
        expect(groups.map(({ value }) => value)).toEqual(['Level 2', 'Level 10', null]);
        const alone = { ...SHAPE, queries: 0 };
        for (const { value, statistics } of groups) {
          const own = rollouts.filter(({ query }) => (values.get(query) ?? null) === value);
          expect(statistics).toEqual(runStatistics(own, alone, { ks: [1, 2] }));
        }
        const ended = groups.reduce((sum, { statistics }) => sum + statistics.ended, 0);
        expect(ended).toBe(runStatistics(rollouts, SHAPE).ended);
      }),
      { numRuns: 30 },
    );
  });
});
