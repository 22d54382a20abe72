// The samples of an agent's tree of calls, by random trees: each sampled token is trained once, in the first sample of it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { branchSamples, idsThrough, type CallTokens } from '../../domain/agent/branch-samples.ts';

/** Every id is another number, so that a token is known by it. */
const TREES = fc
  .array(
    fc.record({ parent: fc.nat(), context: fc.integer({ min: 1, max: 4 }), output: fc.integer({ min: 1, max: 4 }) }),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((shapes) => {
    let next = 0;
    const ids = (count: number) => Array.from({ length: count }, () => next++);
    return shapes.map(({ parent, context, output }, i): CallTokens => {
      const before = parent % (i + 1);
      const outputIds = ids(output);
      return {
        id: `call ${i}`,
        parent: before === i ? null : `call ${before}`,
        contextIds: ids(context),
        outputIds,
        logprobs: outputIds.map((id) => -id - 1),
      };
    });
  });

describe('the samples of a tree', () => {
  test('train each sampled token once, where it first stands, with its logprob, and no other token', () => {
    fc.assert(
      fc.property(TREES, (calls) => {
        const samples = branchSamples(calls, 0.5);
        const sampled = calls.flatMap(({ outputIds }) => outputIds);
        const trained = samples.flatMap(({ ids, lossMask }) => ids.filter((_, i) => lossMask[i] === 1));
        expect(trained.toSorted((a, b) => a - b)).toEqual(sampled.toSorted((a, b) => a - b));
        for (const [at, { ids, lossMask, logprobs, trainedTokens, branch, branches, advantage }] of samples.entries()) {
          expect([branch, branches, advantage]).toEqual([at, samples.length, 0.5]);
          expect(trainedTokens).toBe(lossMask.filter((one) => one === 1).length);
          expect(logprobs).toEqual(ids.map((id, i) => (lossMask[i] === 1 ? -id - 1 : 0)));
          for (const [i, id] of ids.entries()) {
            const isEarlier = samples.slice(0, at).some((sample) => sample.ids.includes(id));
            expect(lossMask[i]).toBe(sampled.includes(id) && !isEarlier ? 1 : 0);
          }
        }
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  test('end each in a leaf, hold the whole path to it, and name the call at which they part', () => {
    fc.assert(
      fc.property(TREES, (calls) => {
        const byId = new Map(calls.map((call) => [call.id, call]));
        const parents = new Set(calls.map(({ parent }) => parent));
        const samples = branchSamples(calls, 0);
        expect(samples.map((sample) => sample.calls.at(-1)!.id)).toEqual(
          calls.filter(({ id }) => !parents.has(id)).map(({ id }) => id),
        );
        for (const sample of samples) {
          expect(sample.ids).toEqual(idsThrough(byId.get(sample.calls.at(-1)!.id)!, byId));
          expect(sample.parent).toBe(sample.calls.findLast(({ trained }) => !trained)?.id ?? null);
          for (const { id, start, end } of sample.calls)
            expect(sample.ids.slice(start, end)).toEqual(byId.get(id)!.outputIds);
        }
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  test('leave abandoned calls out, unless one that is not goes on from them', () => {
    const call = (id: string, parent: string | null): CallTokens => {
      return { id, parent, contextIds: [1], outputIds: [2], logprobs: [-1] };
    };
    const calls = [call('a', null), call('b', 'a'), call('c', 'a'), call('d', 'c')];
    const paths = branchSamples(calls, 0, new Set(['b', 'c'])).map((sample) => sample.calls.map(({ id }) => id));
    expect(paths).toEqual([['a', 'c', 'd']]);
  });

  test('are refused for a call whose parent is not there, or that is its own', () => {
    const alone = (parent: string) => [{ id: 'a', parent, contextIds: [1], outputIds: [2], logprobs: [-1] }];
    expect(() => branchSamples(alone('b'), 0)).toThrow('call a has no call b before it');
    expect(() => branchSamples(alone('a'), 0)).toThrow('call a has no call a before it');
  });
});
