// The limits on steps against an oracle that only counts: no order of requests moves the clock by more than whole steps.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as limits from '../../domain/feed/limits.ts';
import * as rules from '../../domain/feed/rules.ts';
import { admitted, isExhausted } from '../../domain/feed/state.ts';
import { numbersIn } from '../../domain/run/number-set.ts';
import { openedFeed } from './some.ts';

const [GROUPS, B, ETA] = [20, 3, 1];

const step = fc.oneof(
  fc.record({ do: fc.constant('end' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('end' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('lease' as const), n: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant('acknowledge' as const), n: fc.nat(3), by: fc.nat(3) }),
  fc.record({ do: fc.constant('version' as const), n: fc.nat(3) }),
  fc.record({ do: fc.constant('rewind' as const), n: fc.nat(2) }),
);

describe('the limits on steps', () => {
  it('let no group be trained too old, and no version pass without its groups', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const state = openedFeed(GROUPS, B, ETA);
        const begunAt = new Map<number, number>();
        let into: { version: number; groups: number[] }[] = [];
        for (const [i, one] of steps.entries()) {
          for (let g = 0; g < admitted(state); g++) if (!begunAt.has(g)) begunAt.set(g, state.version);
          if (one.do === 'end') {
            // The oldest ones first: overtaking is the business of `available`.
            const open = [...numbersIn(state.playing)];
            for (let g = state.next; g < admitted(state); g++) open.push(g);
            if (open.length > 0) rules.groupsEnded(state, [{ group: open[0]!, leftOut: null }], false);
          } else if (one.do === 'lease') {
            const given = { consumer: 't', groups: one.n, least: 1, line: state.line };
            const may = limits.mayLease(state, given);
            expect(may === true).toBe(one.n <= B);
            if (may === true) rules.takeLease(state, given, `r~${i}`, i);
          } else if (one.do === 'acknowledge') {
            const lease = state.leases[one.n];
            if (!lease) continue;
            const version = state.version + one.by;
            const checked = limits.mayAcknowledge(state, { lease: lease.id, version, line: state.line });
            if (!('lease' in checked)) continue;
            expect(version).toBe(state.version + 1);
            into.push({ version, groups: [...numbersIn(lease.groups)] });
            for (const g of numbersIn(lease.groups)) {
              // A rewind makes its groups younger, never older.
              expect(version - 1 - begunAt.get(g)!).toBeLessThanOrEqual(ETA);
            }
            rules.acknowledge(state, lease, version);
          } else if (one.do === 'version') {
            const version = state.version + one.n;
            if (limits.mayPublish(state, { version, weights: null, line: state.line }) !== false) continue;
            expect(version).toBe(state.version + 1);
            const groups = into.filter((t) => t.version === version).flatMap((t) => t.groups).length;
            expect(groups >= B || (groups > 0 && isExhausted(state))).toBe(true);
            rules.publish(state, version, null);
          } else {
            const to = Math.max(0, state.version + 1 - one.n);
            if (rules.checkRewind(state, { version: to })) continue;
            const gone = into.filter((t) => t.version > to).flatMap((t) => t.groups);
            into = into.filter((t) => t.version <= to);
            rules.rewind(
              state,
              to,
              gone.sort((a, b) => a - b).map((g) => [g, g] as const),
            );
            expect(limits.mayPublish(state, { version: state.version, line: state.line })).toBe(true);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('name what is refused, and what would be right', () => {
    const state = openedFeed(GROUPS, B, ETA);
    rules.groupsEnded(
      state,
      [0, 1, 2, 3].map((group) => ({ group, leftOut: null })),
      false,
    );
    const lease = rules.takeLease(state, { consumer: 't', groups: 2 }, 'r~1', 0)!;
    for (const version of [2, 101, 2 ** 31 - 1])
      expect(limits.mayAcknowledge(state, { lease: lease.id, version, line: state.line })).toMatchObject({
        reason: 'version-skips',
      });
    expect(limits.mayPublish(state, { version: 1 })).toMatchObject({ reason: 'step-too-small' });
    rules.acknowledge(state, lease, 1);
    expect(limits.mayAcknowledge(state, { lease: lease.id, version: 1 })).toMatchObject({ before: { groups: 2 } });
    expect(limits.mayPublish(state, { version: 1 })).toMatchObject({
      fix: expect.stringContaining('acknowledge 1 more'),
    });
    expect(limits.mayPublish(state, { version: 2 })).toMatchObject({ reason: 'version-skips' });
    expect(limits.mayPublish({ ...state, shape: { ...state.shape, batchGroups: null } }, { version: 1 })).toBe(false);
  });
});
