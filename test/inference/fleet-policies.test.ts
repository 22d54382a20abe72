import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FleetPolicy } from '../../domain/rollout/settings.ts';
import { charge, rank, type RankedServer } from '../../inference/fleet/policies.ts';

const candidate = (url: string, changes: Partial<RankedServer> = {}): RankedServer => ({
  url,
  weight: 1,
  inFlight: 0,
  tokens: 0,
  credit: 0,
  ...changes,
});
const urls = (candidates: readonly RankedServer[]) => candidates.map(({ url }) => url);

describe('a policy of a fleet', () => {
  test('sticky ranks the same servers the same way, in whatever order they are given', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.webUrl(), { minLength: 1, maxLength: 8 }), fc.string(), (given, key) => {
        const servers = given.map((url) => candidate(url));
        expect(urls(rank(servers.toReversed(), 'sticky', key))).toEqual(urls(rank(servers, 'sticky', key)));
      }),
    );
  });

  test('sticky moves only the rollouts of a server that leaves', () => {
    const all = ['a', 'b', 'c', 'd'].map((url) => candidate(url));
    const fewer = all.slice(0, 3);
    for (let i = 0; i < 500; i++) {
      const before = rank(all, 'sticky', `run/q${i}/0`)[0]!.url;
      const after = rank(fewer, 'sticky', `run/q${i}/0`)[0]!.url;
      if (before !== 'd') expect(after).toBe(before);
    }
  });

  test('sticky spreads rollouts by weight', () => {
    const servers = [candidate('a'), candidate('b', { weight: 3 })];
    const first = Array.from({ length: 4000 }, (_, i) => rank(servers, 'sticky', `run/q${i}/0`)[0]!.url);
    const share = first.filter((url) => url === 'b').length / first.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
  });

  test('round robin takes turns, as often as weights say', () => {
    const servers = [candidate('a'), candidate('b', { weight: 2 })];
    const turns = Array.from({ length: 6 }, () => {
      const chosen = rank(servers, 'round_robin', '')[0]!;
      charge(chosen, servers);
      return chosen.url;
    });
    expect(turns.join('')).toBe('babbab');
  });

  test.each<[FleetPolicy, Partial<RankedServer>, Partial<RankedServer>]>([
    ['least_requests', { inFlight: 2 }, { inFlight: 3, weight: 2 }],
    ['least_token_usage', { tokens: 200 }, { tokens: 300, weight: 2 }],
  ])('%s prefers what has least for its weight', (policy, a, b) => {
    expect(urls(rank([candidate('a', a), candidate('b', b)], policy, ''))).toEqual(['b', 'a']);
  });
});
