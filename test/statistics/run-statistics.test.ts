// The numbers of a whole run: which rollouts count where, and what a run in progress may say.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RolloutSummary, RunSize } from '../../domain/rollout/rollout-summary.ts';
import { closedPrefix, provisional } from '../../domain/statistics/in-progress.ts';
import { rightBy } from '../../domain/statistics/outcomes.ts';
import { runStatistics, sharesOf } from '../../domain/statistics/run-statistics.ts';
import { costBounds } from '../../domain/statistics/timing.ts';
import { rolloutOf, SHAPE, turnOf, WORKED } from './rollouts.ts';

const shape = (part: Partial<RunSize>): RunSize => ({ ...SHAPE, samples: 1, numTurns: 3, ...part });

describe('the statistics of a run', () => {
  const rollouts = [
    rolloutOf('a', [0, 1, 1], { index: 0 }),
    rolloutOf('b', [1, 0, 1], { index: 1 }),
    rolloutOf('c', [0, null], { index: 2, outcome: 'undecided' }),
    rolloutOf('d', [1], { index: 3, outcome: 'failed', attempt: 2 }),
  ];
  const statistics = runStatistics(rollouts, shape({}));
  const [first, second, third] = statistics.byTurn;

  test('count at each turn those that were judged there, and name the others', () => {
    expect(statistics.byTurn.map(({ judged, right, undecided }) => [judged, right, undecided])).toEqual([
      [4, 2, 0],
      [2, 1, 1],
      [2, 2, 0],
    ]);
    expect(first!.accuracy.value).toBe(0.5);
    expect(first!.accuracy.method).toBe('wilson');
    expect(second!.accuracy.leftOut).toBe(2);
  });

  test('count what was right by a turn of all ended rollouts', () => {
    expect([first, second, third].map((turn) => turn!.rightBy.value)).toEqual([0.5, 0.75, 0.75]);
    expect(third!.rightBy.n).toBe(4);
  });

  test('count repairs and spoils of the rollouts that were judged at both turns', () => {
    expect([second!.repairs, second!.spoils]).toEqual([
      { count: 1, of: 1 },
      { count: 1, of: 1 },
    ]);
    expect([third!.repairs, third!.spoils]).toEqual([
      { count: 1, of: 1 },
      { count: 0, of: 1 },
    ]);
    expect([first!.repairs, first!.spoils]).toEqual([
      { count: 0, of: 0 },
      { count: 0, of: 0 },
    ]);
  });

  test('never count a rollout that failed or is undecided as wrong', () => {
    expect(statistics.right).toEqual({ count: 2, known: 2 });
    const { atTurn } = statistics;
    const name = `pass@1 (any of ${atTurn} turns)`;
    expect(statistics.passAtK[0]).toMatchObject({ name, value: 1, n: 2, leftOut: 2 });
    expect(statistics.returns).toMatchObject({ n: 2, leftOut: 2, value: 0 });
  });

  test('name outcomes, endings and retries', () => {
    expect(statistics.outcomes).toEqual({ complete: 2, undecided: 1, failed: 1, cancelled: 0 });
    expect(statistics.endings['failed · failed · server-timeout']).toBe(1);
    expect(statistics.retried).toBe(1);
    expect(statistics.provisional).toBeNull();
  });

  test('at an earlier turn know more rollouts', () => {
    const early = runStatistics(rollouts, shape({}), { atTurn: 1 });
    expect(early.right).toEqual({ count: 2, known: 4 });
    expect(early.passAtK[0]).toMatchObject({ name: 'pass@1', value: 0.5, n: 4, leftOut: 0 });
  });

  test('name the turn of each accuracy, and stand once where one turn counts', () => {
    const names = (atTurn: number) =>
      sharesOf(runStatistics(rollouts, shape({}), { atTurn, ks: [1] })).map((one) => one.name);
    expect(names(2)).toEqual(['pass@1 (turn 1)', 'pass@1 (any of 2 turns)', 'pass@1 (last turn)']);
    expect(names(1)).toEqual(['pass@1']);
    const { passAtKFirst } = runStatistics(rollouts, shape({}), { ks: [1] });
    expect(passAtKFirst[0]).toMatchObject({ value: 0.5, n: 4, leftOut: 0 });
  });

  test('are undefined, not 1, for a k that no query has', () => {
    const { passAtK } = runStatistics(WORKED, SHAPE, { ks: [5] });
    expect(passAtK[0]).toMatchObject({ value: null, n: 0, leftOut: 4, interval: null });
  });

  test('never claim certainty: of unanimous queries the interval is Wilson’s', () => {
    const all = WORKED.map((rollout) => ({ ...rollout, success: [1] as const }));
    const { passAtK, lastAnswer } = runStatistics(all, SHAPE);
    for (const found of [...passAtK, lastAnswer]) {
      expect(found).toMatchObject({ value: 1, method: 'wilson' });
      expect(found.interval![0]).toBeCloseTo(0.5101, 4);
    }
  });

  test('are numbers or null for an empty run: never NaN', () => {
    const text = JSON.stringify(runStatistics([], shape({ queries: 0 })), (_, value: unknown) => {
      if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`found ${value}`);
      return value;
    });
    expect(text).toContain('"ended":0');
  });

  test('take real-valued rewards as mean and spread', () => {
    const rewarded = [0.25, 0.5, 0.9].map((reward, index) =>
      rolloutOf(`q${index}`, [1], { index, returns: [reward], turns: [turnOf(1, 1, { reward })] }),
    );
    const { returns, byTurn } = runStatistics(rewarded, shape({ queries: 3, numTurns: 1 }));
    expect(returns.value).toBeCloseTo(0.55, 12);
    expect(returns.spread).toBeCloseTo(0.327871926215, 11);
    expect([returns.least, returns.most]).toEqual([0.25, 0.9]);
    expect(byTurn[0]!.reward!.mean).toBeCloseTo(0.55, 12);
  });

  test('never call a rollout right or wrong that has rewards and no verdict', () => {
    const scored = [0.25, 0.5].map((reward, index) =>
      rolloutOf(`q${index}`, [null], {
        index,
        returns: [reward],
        turns: [turnOf(1, null, { verdict: 'scored', reward })],
      }),
    );
    const found = runStatistics(scored, shape({ queries: 3, numTurns: 1 }));
    expect(found.right).toEqual({ count: 0, known: 0 });
    expect(found.passAtK[0]).toMatchObject({ value: null, n: 0 });
    expect(found.byTurn[0]).toMatchObject({ judged: 0, undecided: 0, rightBy: { value: null, n: 0, leftOut: 2 } });
    expect(found.returns.value).toBeCloseTo(0.375, 12);
    expect(found.provisional!.bounds).toBeNull();
  });

  test('count overlapping time once, and bound a cost that the records do not hold', () => {
    const at = (startedAt: number, finishedAt: number) => turnOf(1, 1, { startedAt, finishedAt, outputTokens: 100 });
    const timed = [at(0, 1000), at(500, 2000), at(3000, 4000)].map((turn, index) =>
      rolloutOf(`q${index}`, [1], { index, turns: [turn] }),
    );
    const { timing } = runStatistics(timed, shape({ queries: 3, numTurns: 1 }));
    expect([timing!.busySeconds, timing!.throughput]).toEqual([3, 100]);
    const two = rolloutOf('q', [0, 1], {
      turns: [
        turnOf(1, 0, { contextTokens: 100, outputTokens: 10 }),
        turnOf(2, 1, { contextTokens: 130, outputTokens: 10 }),
      ],
    });
    expect(costBounds([two], { input: 1e6, cached: 1e5, output: 2e6 })).toEqual([100 + 11 + 20 + 40, 230 + 40]);
  });
});

describe('a run in progress', () => {
  const order = ['a', 'b', 'c', 'd', 'e'].map((query, index) => ({ query, index }));
  const run = order.map(({ query, index }) =>
    rolloutOf(query, index === 2 ? [0] : [1], { index, outcome: index === 2 || index === 4 ? null : 'complete' }),
  );

  test('has a closed prefix that ends at the first rollout in flight, and bounds over all', () => {
    const found = provisional(run, shape({ queries: 6, numTurns: 1 }), 1)!;
    expect(closedPrefix(run, shape({ queries: 6 })).map(({ query }) => query)).toEqual(['a', 'b']);
    expect(found).toMatchObject({ of: 6, ended: 3, bounds: [3 / 6, 6 / 6] });
    expect(found.endedSoFar).toMatchObject({ value: 1, n: 3, interval: null });
    expect(found.closedPrefix).toMatchObject({ length: 2, estimate: { value: 1, n: 2 } });
  });

  test('plays samples of a query together, and epochs one after the other', () => {
    const two = shape({ queries: 2, samples: 2, epochs: 2 });
    const at = (index: number, sample: number) => rolloutOf(`q${index}`, [1], { index, sample });
    const begun = [at(0, 0), at(0, 1), at(1, 0), at(1, 1), at(0, 2)];
    expect(closedPrefix(begun, two)).toHaveLength(5);
    expect(closedPrefix(begun.slice(1), two)).toHaveLength(0);
  });

  test('has bounds that hold, and a prefix that equals the ended ones once all have ended', () => {
    const some = fc.array(fc.tuple(fc.constantFrom(0, 1), fc.boolean()), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(some, (all) => {
        const whole = all.map(([right], index) => rolloutOf(`q${index}`, [right as 0 | 1], { index }));
        const part = whole.map((rollout, i): RolloutSummary => (all[i]![1] ? rollout : { ...rollout, outcome: null }));
        const size = shape({ queries: all.length, numTurns: 1 });
        const truth = whole.filter((r) => rightBy(r, 1) === 1).length / all.length;
        const now = provisional(part, size, 1);
        if (now) {
          expect(now.bounds![0]).toBeLessThanOrEqual(truth);
          expect(now.bounds![1]).toBeGreaterThanOrEqual(truth);
          expect(now.closedPrefix.length).toBe(part.findIndex(({ outcome }) => outcome === null));
        } else expect(runStatistics(whole, size).passAtK[0]!.value).toBeCloseTo(truth, 12);
      }),
    );
  });
});
