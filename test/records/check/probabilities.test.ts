// The probabilities of one context add up to at most 1: honest samples are believed, and lies about logprobs found.

import { describe, expect, test } from 'vitest';
import { type Drawn, openProbabilityCheck, openTraitsCheck, traitsOf } from '../../../records/check/traits.ts';
import type { CheckedRollout } from '../../../records/check/checked.ts';
import { draw } from '../../support/toy-model.ts';
import { aQuery, someSettings, turnRecord } from '../play.ts';

const VOCABULARY = 200;
const SAMPLES = 400;

/** Samples of one model after one context. */
const samples = Array.from({ length: SAMPLES }, (_, seed) => {
  const ids: number[] = [];
  const logprobs: number[] = [];
  for (let i = 0; i < 16; i++) {
    const how = { temperature: 0.3, topP: 1, topK: -1, seed: seed * 7919 + i, top: 0, meaning: 'policy' } as const;
    const next = draw([5, 6, 7, ...ids], VOCABULARY, 7, how);
    ids.push(next.id);
    logprobs.push(next.logprob);
  }
  return { ids, logprobs };
});

/** As a server that lies so would give them. */
function problems(lie: (logprobs: readonly number[], sample: number) => readonly number[]): string[] {
  const found: string[] = [];
  const check = openProbabilityCheck(({ problem }) => found.push(problem));
  for (const [seed, { ids, logprobs }] of samples.entries()) {
    const drawn: Drawn = { from: 'default', ids, logprobs: lie(logprobs, seed) };
    check('a context', drawn, `turn ${seed}`);
  }
  return found;
}

describe('the probabilities of one context', () => {
  test('of an honest model are believed, also with the noise of bfloat16', () => {
    expect(problems((logprobs) => logprobs)).toEqual([]);
    expect(
      problems((logprobs, sample) => logprobs.map((value, i) => value + 0.02 * Math.sin(sample * 31 + i))),
    ).toEqual([]);
  });

  test.each([
    ['all 0', (logprobs: readonly number[]) => logprobs.map(() => 0)],
    ['halved', (logprobs: readonly number[]) => logprobs.map((value) => value / 2)],
    ['shifted by one', (logprobs: readonly number[]) => [...logprobs.slice(1), -1]],
    [
      'of another temperature at times',
      (logprobs: readonly number[], i: number) => logprobs.map((v) => (i % 2 ? v : v / 3)),
    ],
    ['in another order', (logprobs: readonly number[]) => logprobs.toReversed()],
  ])('that are %s are found', (_, lie) => {
    expect(problems(lie).length).toBeGreaterThan(0);
  });

  test('of two versions are not compared', () => {
    const found: string[] = [];
    const check = openProbabilityCheck(({ problem }) => found.push(problem));
    for (const from of ['1', '2']) check('a context', { from, ids: [1], logprobs: [-0.01] }, from);
    check('a context', { from: '2', ids: [2], logprobs: [-0.01] }, 'last');
    expect(found).toHaveLength(1);
  });

  test.each([
    ['add up', {}, 1],
    ['do not where a server held the replies to forms', { form: { kind: 'regex', value: '[0-9]' } }, 0],
  ])('%s', (_, limits, breaches) => {
    const found: string[] = [];
    const check = openTraitsCheck(({ problem }) => found.push(problem));
    for (const id of [1, 2]) {
      const versions = [{ start: 0, end: 1, version: 0, versionLabel: null }];
      const asked = { parent: null, limits };
      const record = { ...turnRecord(1, 'x'), asked, contextIds: [5], outputIds: [id], logprobs: [0], versions };
      const rollout = { query: aQuery(`q${id}`), settings: someSettings() };
      const of = { run: 'r', query: `q${id}`, sample: 0, attempt: 1 };
      check(traitsOf({ id: of, rollout, turns: [{ record, hash: 'h' }] } as unknown as CheckedRollout));
    }
    expect(found).toHaveLength(breaches);
  });
});
