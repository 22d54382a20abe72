// Answers that no model gives are refused, by what is wrong with them; those that one can give are taken as they are.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { findImpossible, usableLogprobs, type Claimed } from '../../inference/possible.ts';

const STOP = 2;
const GENERATION_CONFIG_STOP = 3;
const request = {
  requestId: 'r/q/0/1',
  contextIds: [5],
  maxNewTokens: 8,
  sampling: DEFAULT_SAMPLING,
  seed: 1,
  deterministic: false,
  stopTokenIds: [STOP],
};
const limits = { vocabSize: 100, ends: (id: number) => id === STOP || id === GENERATION_CONFIG_STOP };
const span = (version: number, start: number, end: number, versionLabel?: string) => ({
  version,
  start,
  end,
  ...(versionLabel === undefined ? {} : { versionLabel }),
});
const fine: Claimed = { outputIds: [7, 8, STOP], logprobs: [-1, -0.5, 0], finish: 'stop', versions: [span(0, 0, 3)] };
const flaw = (changes: Partial<Claimed>) => findImpossible({ ...fine, ...changes }, request, limits)?.flaw ?? null;

describe('an answer', () => {
  test.each<[string | null, Partial<Claimed>]>([
    [null, {}],
    [null, { logprobs: [-1e4, -9999, 1e-3] }],
    [null, { outputIds: [7, STOP, GENERATION_CONFIG_STOP].toSpliced(1, 1, 9) }],
    [null, { outputIds: [7, GENERATION_CONFIG_STOP, STOP] }],
    [null, { finish: 'length', outputIds: [7, 8, 9] }],
    [null, { finish: 'abort', outputIds: [7, 8, 9] }],
    [null, { versions: [span(9, 0, 1, 'v9'), span(10, 1, 3, 'v10')] }],
    [null, { versions: [span(2 ** 30 + 5, 0, 1, 'blue'), span(2, 1, 3, 'v2')] }],
    ['a logprob above 0', { logprobs: [-1, 0.0011, 0] }],
    ['a logprob below -10000', { logprobs: [-1, -10_001, 0] }],
    ['a logprob that is no number', { logprobs: [-1, Number.NaN, 0] }],
    ['a logprob that is no number', { logprobs: [-1, -Infinity, 0] }],
    ['a logprob that is no number', { logprobs: [-1, null, 0] }],
    ['logprobs missing', { logprobs: [] }],
    ['another number of logprobs than of tokens', { logprobs: [-1, -1] }],
    ['stop without a stop token', { outputIds: [7, 8, 9] }],
    ['a stop token in the middle', { outputIds: [7, STOP, STOP] }],
    ['a stop token in the middle', { outputIds: [STOP, 7, 8], finish: 'length' }],
    ['a stop token without stop', { finish: 'length' }],
    ['a token id outside the vocabulary', { outputIds: [7, 100, STOP] }],
    ['a token id outside the vocabulary', { outputIds: [7, 1.5, STOP] }],
    ['a token id outside the vocabulary', { outputIds: [7, 1e300, STOP] }],
    ['more tokens than asked for', { outputIds: Array<number>(9).fill(7) }],
    ['versions that do not cover the tokens', { versions: null }],
    ['versions that go back', { versions: [span(3, 0, 1, 'v3'), span(2, 1, 3, 'v2')] }],
    ['versions that go back', { versions: [span(1, 0, 1, 'v1'), span(0, 1, 3, 'default')] }],
    ['versions that go back', { versions: [span(1, 0, 1, 'v1'), span(2, 1, 2, 'v2'), span(1, 2, 3, 'v1')] }],
  ])('has the flaw %s: %j', (expected, changes) => {
    expect(flaw(changes)).toBe(expected);
  });

  test('that is taken has logprobs of at most 0, and no other one was changed', () => {
    const logprob = fc.double({ min: -2e4, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(logprob, { minLength: 3, maxLength: 3 }), (logprobs) => {
        const possible = logprobs.every((x) => x <= 1e-3 && x >= -1e4);
        expect(flaw({ logprobs }) === null).toBe(possible);
        if (possible) expect(usableLogprobs(logprobs)).toEqual(logprobs.map((x) => (x > 0 ? 0 : x)));
      }),
    );
  });
});
