// Two runs compared: the queries that are paired and those that never are, the 2×2, and the gate.

import { describe, expect, test } from 'vitest';
import type { RolloutSummary } from '../../domain/rollout/rollout-summary.ts';
import { type ComparedRun, comparison, isWorse, settingDifferences } from '../../domain/statistics/comparison.ts';
import { runStatistics } from '../../domain/statistics/run-statistics.ts';
import { rolloutOf, SHAPE, turnOf } from './rollouts.ts';

/** `{ q1: '1110' }`: four samples, the first three right; `?` failed. */
function runOf(samples: Readonly<Record<string, string>>, part: Partial<ComparedRun> = {}): ComparedRun {
  const rollouts = Object.entries(samples).flatMap(([query, signs], index) =>
    [...signs].map((sign, sample): RolloutSummary => {
      if (sign === '?') return rolloutOf(query, [], { index, sample, outcome: 'failed' });
      return rolloutOf(query, [sign === '1' ? 1 : 0], { index, sample });
    }),
  );
  const identity = (query: string) => [query, { prompt: query, solutions: '42', judge: 'math' }] as const;
  return { rollouts, queries: new Map(Object.keys(samples).map(identity)), ...part };
}

const EXAMPLE = [
  runOf({ q1: '1110', q2: '0100', q3: '0000', q4: '1111' }),
  runOf({ q1: '1010', q2: '0001', q3: '0000', q4: '1101' }),
] as const;

describe('the comparison of two runs', () => {
  test('gives the worked example, as second minus first', () => {
    const { difference, signTest, table, a, b, pairs } = comparison(...EXAMPLE, { atTurn: 1 });
    expect([a.value, b.value]).toEqual([0.5, 0.375]);
    expect(difference.value).toBeCloseTo(-0.125, 12);
    expect(difference.standardError).toBeCloseTo(0.0721687836487, 12);
    expect(difference.p).toBeCloseTo(0.18169, 5);
    expect(signTest).toBe(0.5);
    expect(table).toEqual({ both: 1, 'only-a': 1, 'only-b': 0, neither: 2 });
    expect(pairs.find(({ query }) => query === 'q1')).toEqual({ query: 'q1', a: 0.75, b: 0.5, cell: 'only-a' });
  });

  test('names queries that another environment judged apart from those with other solutions', () => {
    const b = runOf({ q1: '1', q2: '1' });
    const queries = new Map(b.queries);
    queries.set('q2', { prompt: 'q2', solutions: '', judge: 'an environment' });
    const found = comparison(runOf({ q1: '0', q2: '0' }), { ...b, queries }, { atTurn: 1 });
    expect(found).toMatchObject({ otherJudge: ['q2'], otherSolutions: [] });
    expect(found.pairs).toHaveLength(2);
  });

  test('of one sample a query has McNemar on the discordant ones', () => {
    const a = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`q${i}`, i < 13 ? '1' : '0']));
    const b = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`q${i}`, i < 5 || i >= 18 ? '1' : '0']));
    const { signTest, table } = comparison(runOf(a), runOf(b), { atTurn: 1 });
    expect(table).toEqual({ both: 5, 'only-a': 8, 'only-b': 2, neither: 5 });
    expect(signTest).toBeCloseTo(0.109375, 12);
  });

  test('has the metrics and named rewards that both runs have, with intervals, paired by query', () => {
    const run = (values: number[], part: object = {}) => {
      const rollouts = values.map((fluency, i) =>
        rolloutOf(`q${i}`, [1], { turns: [turnOf(1, 1, { metrics: { fluency }, ...part })] }),
      );
      const queries = new Map(rollouts.map(({ query }) => [query, { prompt: query, solutions: '', judge: 'own' }]));
      return { rollouts, queries };
    };
    const [a, b] = [run([1, 2, 3]), run([2, 3, 5], { rewards: { format: 1 } })];
    const { named } = comparison(a, b, { atTurn: 1 });
    expect(named).toMatchObject([{ name: 'metrics.fluency', a: { value: 2 }, difference: { n: 3 } }]);
    expect(named[0]!.difference.value).toBeCloseTo(4 / 3, 12);
    // SciPy: stats.ttest_rel([2, 3, 5], [1, 2, 3]).pvalue
    expect(named[0]!.difference.p).toBeCloseTo(0.05719095841793663, 12);
    const own = runStatistics(b.rollouts, { ...SHAPE, queries: 3, samples: 1 }).named;
    expect(own.map(({ name, value, n }) => [name, value, n])).toEqual([
      ['metrics.fluency', 10 / 3, 3],
      ['rewards.format', 1, 3],
    ]);
    // SciPy: stats.t.interval(0.95, 2, 10/3, stats.sem([2, 3, 5]))
    expect(own[0]!.interval![0]).toBeCloseTo(-0.46124970026342593, 10);
    expect(own[0]!.interval![1]).toBeCloseTo(7.1279163669300925, 10);
  });

  test('pairs rows by id where the runs put other words around them', () => {
    const b = runOf(
      { q1: '1' },
      { queries: new Map([['q1', { prompt: 'Be brief. q1', solutions: '42', judge: 'math' }]]) },
    );
    const found = comparison(runOf({ q1: '0' }), { ...b, wording: { system: 'Be brief.' } }, { atTurn: 1 });
    expect(found).toMatchObject({ otherText: [], pairs: [{ query: 'q1', a: 0, b: 1 }] });
  });

  test('never pairs another text, and names everything that is not paired', () => {
    const b = runOf({ q1: '1', q2: '1', q3: '?', q4: '1', new: '1' });
    const queries = new Map(b.queries);
    queries.set('q2', { prompt: 'another question', solutions: '42', judge: 'math' });
    queries.set('q4', { prompt: 'q4', solutions: '43', judge: 'math' });
    const found = comparison(runOf({ q1: '0', q2: '0', q3: '0', q4: '0', old: '0' }), { ...b, queries }, { atTurn: 1 });
    expect(found.pairs.map(({ query }) => query)).toEqual(['q1', 'q4']);
    expect(found).toMatchObject({
      onlyInA: ['old'],
      onlyInB: ['new'],
      otherText: ['q2'],
      otherSolutions: ['q4'],
      otherJudge: [],
      unknown: ['q3'],
    });
  });

  test('leaves out what is unknown: a failed sample is not wrong', () => {
    const { pairs } = comparison(runOf({ q1: '1?' }), runOf({ q1: '1???' }), { atTurn: 1 });
    expect(pairs).toEqual([{ query: 'q1', a: 1, b: 1, cell: 'both' }]);
  });

  test('of nothing has no numbers, and none of them is NaN', () => {
    const found = comparison(runOf({}), runOf({}), { atTurn: 1 });
    expect(found).toMatchObject({ signTest: null, visible: null, a: { value: null } });
    expect(JSON.stringify(found)).not.toContain('NaN');
  });

  test('takes returns as real numbers', () => {
    const returned = (values: readonly number[]): ComparedRun => {
      const names = values.map((_, i) => `q${i}`);
      const rollouts = values.map((value, index) => rolloutOf(`q${index}`, [1], { index, returns: [value] }));
      return { rollouts, queries: new Map(names.map((n) => [n, { prompt: n, solutions: '', judge: 'math' }])) };
    };
    const found = comparison(returned([1, 2, 3]), returned([1.5, 2.5, 4]), { measure: 'return', atTurn: 1 });
    expect(found.difference.value).toBeCloseTo(2 / 3, 12);
    expect([found.table, found.byTurn]).toEqual([null, []]);
  });
});

describe('the gate', () => {
  const many = (signs: (i: number) => '0' | '1') =>
    runOf(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`q${i}`, signs(i)])));
  const gate = (a: ComparedRun, b: ComparedRun, minDelta: number) => isWorse(comparison(a, b, { atTurn: 1 }), minDelta);
  const good = many((i) => (i < 45 ? '1' : '0'));
  const bad = many((i) => (i < 25 ? '1' : '0'));

  test('closes when the second run is clearly worse, never when it is better', () => {
    expect(gate(good, bad, 0)).toBe(true);
    expect(gate(good, bad, 0.3)).toBe(true);
    expect(gate(bad, good, 0)).toBe(false);
  });

  test('stays open for a difference that is smaller than the delta, or that chance explains', () => {
    expect(gate(good, bad, 0.4)).toBe(false);
    expect(
      gate(
        good,
        many((i) => (i < 44 ? '1' : '0')),
        0,
      ),
    ).toBe(false);
  });

  test('decides by random signs where all queries fell alike, and not on two of them', () => {
    expect(
      gate(
        many(() => '1'),
        many(() => '0'),
        0.1,
      ),
    ).toBe(true);
    expect(gate(runOf({ a: '1', b: '1' }), runOf({ a: '0', b: '0' }), 0.1)).toBe(false);
  });
});

describe('settings that differ', () => {
  test('are named with both values, whatever the order of keys', () => {
    expect(
      settingDifferences({ t: 1, same: { x: 1, y: 2 }, gone: 'a' }, { same: { y: 2, x: 1 }, t: 0.6, came: null }),
    ).toEqual([
      { name: 't', a: 1, b: 0.6 },
      { name: 'gone', a: 'a', b: undefined },
      { name: 'came', a: undefined, b: null },
    ]);
  });
});
