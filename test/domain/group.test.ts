// Labels, filters and advantages of groups, against definitions written out by hand.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advantages,
  groupId,
  groupLabels,
  groupPlace,
  memberSamples,
  parseSuccessRate,
  scoredMember,
  turnAdvantages,
  whyLeftOut,
} from '../../domain/samples/group.ts';

const member = (reward: number, success: 0 | 1 = 0) => ({ reward, success });
const some = { successRate: null, dropZeroVariance: false, minMembers: null } as const;

describe('a group', () => {
  it('has its own number and its own samples, which fill the run without a gap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 9 }), (queries, samples) => {
        const shape = { queries, samples };
        const seen = new Set<string>();
        for (let group = 0; group < queries * 3; group++) {
          const place = groupPlace(shape, group);
          expect(place.epoch * queries + place.index).toBe(group);
          for (const sample of memberSamples(shape, place.epoch)) seen.add(`${place.index}/${sample}`);
        }
        expect(seen.size).toBe(queries * samples * 3);
      }),
    );
  });

  it('has an id that no other query and epoch has', () => {
    const text = fc.stringMatching(/^[#%0-9a]{0,8}$/);
    fc.assert(
      fc.property(text, fc.nat(12), text, fc.nat(12), (q, e, p, d) => {
        if (q !== p || e !== d) expect(groupId(q, e)).not.toBe(groupId(p, d));
      }),
    );
    expect(groupId('gsm8k/17', 0)).toBe('gsm8k/17');
    expect(groupId('a#1', 2)).toBe('a%231#2');
  });

  it('counts only members with a reward', () => {
    expect(scoredMember({ outcome: 'failed', returns: [], success: [1] })).toBeNull();
    expect(scoredMember({ outcome: 'complete', returns: [0.5, 1], success: [0, 1] })).toEqual(member(0.5, 1));
    const labels = groupLabels([member(1, 1), null, member(-1)]);
    expect(labels).toEqual({ members: 2, successRate: 0.5, zeroVariance: false, rewardMean: 0, rewardStd: 1 });
  });

  it('is left out for one reason at a time, and both limits of the success rate are inside', () => {
    const half = groupLabels([member(1, 1), member(-1)]);
    expect(whyLeftOut(half, some, 2)).toBeNull();
    expect(whyLeftOut(half, some, 3)).toBe('members');
    expect(whyLeftOut(half, { ...some, minMembers: 2 }, 3)).toBeNull();
    expect(whyLeftOut(half, { ...some, successRate: [0.5, 0.5] }, 2)).toBeNull();
    expect(whyLeftOut(half, { ...some, successRate: [0.51, 1] }, 2)).toBe('success-rate');
    const same = groupLabels([member(1, 1), member(1, 1)]);
    expect(whyLeftOut(same, { ...some, dropZeroVariance: true }, 2)).toBe('zero-variance');
    expect(whyLeftOut(groupLabels([null, null]), { ...some, minMembers: 1 }, 2)).toBe('members');
  });

  it('has advantages of mean 0, and 0 where there is nothing to learn', () => {
    expect(advantages([1, -1])[0]).toBeCloseTo(1, 5);
    expect(advantages([1, 1, 1])).toEqual([0, 0, 0]);
    expect(advantages([1, null, -1])[1]).toBe(0);
    fc.assert(
      fc.property(fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1 }), (rewards) => {
        expect(Math.abs(advantages(rewards).reduce((sum, a) => sum + a, 0))).toBeLessThan(1e-3);
      }),
    );
    expect(turnAdvantages([[2, 1], null, [0]])).toEqual([[expect.closeTo(1, 5), 0], [], [expect.closeTo(-1, 5)]]);
  });

  it('has limits of the success rate that are numbers in order', () => {
    expect(parseSuccessRate('0.1:0.9')).toEqual([0.1, 0.9]);
    for (const bad of ['', '1', '0.9:0.1', '0:2', 'a:b', '0:1:1', '0.0:', '1e-1:1', '00000:1'])
      expect(parseSuccessRate(bad), bad).toBeUndefined();
  });
});
