// The rules of a feed against a model that knows only what a trainer sees: at any moment each group is in one place, and
// along the surviving line none was trained twice.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addEntry, emptyLine, groupsOf, type FeedEntry } from '../../domain/feed/entry.ts';
import { argumentProblem } from '../../domain/feed/messages.ts';
import * as rules from '../../domain/feed/rules.ts';
import { admitted } from '../../domain/feed/state.ts';
import { has, isNumberSet, numbersIn, setOf, sizeOf, union, without } from '../../domain/run/number-set.ts';
import { openedFeed } from './some.ts';

const numbers = fc.array(fc.nat(40), { maxLength: 30 });

describe('a set of numbers', () => {
  it('does what a Set does', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const [x, y] = [setOf(a), setOf(b)];
        expect([...numbersIn(x)]).toEqual([...new Set(a)].sort((p, q) => p - q));
        expect([...numbersIn(union(x, y))]).toEqual([...new Set([...a, ...b])].sort((p, q) => p - q));
        expect([...numbersIn(without(x, y))]).toEqual(
          [...new Set(a)].filter((n) => !b.includes(n)).sort((p, q) => p - q),
        );
        expect(sizeOf(x)).toBe(new Set(a).size);
        for (let n = 0; n <= 41; n++) expect(has(x, n)).toBe(a.includes(n));
        for (const set of [x, union(x, y), without(x, y)]) expect(isNumberSet(set, 41)).toBe(true);
      }),
    );
    for (const bad of [
      null,
      [[1]],
      [[2, 1]],
      [
        [0, 1],
        [2, 3],
      ],
      [[0, 1.5]],
      [[-1, 0]],
      [[0, 41]],
    ])
      // prettier-ignore
      expect(isNumberSet(bad, 41)).toBe(false);
  });
});

const GROUPS = 24;
const step = fc.oneof(
  fc.record({ do: fc.constant('end' as const), n: fc.nat(4), drop: fc.boolean() }),
  fc.record({ do: fc.constant('lease' as const), n: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('acknowledge' as const), n: fc.nat(9), by: fc.nat(2) }),
  fc.record({ do: fc.constant('version' as const), by: fc.nat(2) }),
  fc.record({ do: fc.constant('rewind' as const), by: fc.nat(3) }),
  fc.record({ do: fc.constant('expire' as const), n: fc.nat(3) }),
);

describe('the rules of a feed', () => {
  it('lose no group and train none twice along the surviving line, whatever is asked in whatever order', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const state = openedFeed(GROUPS, 3, 1);
        const line = emptyLine();
        const leases: { id: string; line: number }[] = [];
        const left = new Set<number>();
        let entries = 0;
        const note = (said: object) =>
          addEntry(line, { ...said, number: ++entries, previous: null, at: 0 } as unknown as FeedEntry);
        for (const [i, one] of steps.entries()) {
          if (one.do === 'end') {
            const open = [...numbersIn(state.playing)];
            for (let g = state.next; g < admitted(state); g++) open.push(g);
            const group = open[one.n % Math.max(1, open.length)];
            if (group === undefined) continue;
            if (one.drop) left.add(group);
            rules.groupsEnded(state, [{ group, leftOut: one.drop ? 'zero-variance' : null }], false);
          } else if (one.do === 'lease') {
            const lease = rules.takeLease(state, { consumer: 't', groups: one.n, least: 1 }, `r~${i}`, i);
            if (lease) leases.push({ id: lease.id, line: state.line });
          } else if (one.do === 'acknowledge') {
            const lease = leases[one.n % Math.max(1, leases.length)];
            if (!lease) continue;
            const before = structuredClone(state);
            const version = state.version + one.by;
            const checked = rules.checkAcknowledge(state, { lease: lease.id, version });
            expect(state).toEqual(before);
            if (!('lease' in checked)) continue;
            expect(lease.line).toBe(state.line);
            const { groups, version: leasedAt } = checked.lease;
            note({ kind: 'trained', lease: lease.id, consumer: 't', groups, leasedAt, version });
            rules.acknowledge(state, checked.lease, version);
          } else if (one.do === 'version') {
            const version = state.version + one.by;
            if (rules.checkVersion(state, { version, weights: null }) !== false) continue;
            note({ kind: 'version', version, weights: null });
            rules.publish(state, version, null);
          } else if (one.do === 'rewind') {
            const version = Math.max(0, state.version - one.by);
            if (rules.checkRewind(state, { version })) continue;
            const gone = note({ kind: 'rewind', to: version });
            rules.rewind(state, version, groupsOf(gone));
          } else {
            const lease = state.leases[one.n];
            rules.endLeases(state, (other) => other === lease);
          }
          // Each group below `next` is in exactly one place.
          const trained = [...numbersIn(groupsOf(line.acknowledged))];
          expect(sizeOf(groupsOf(line.acknowledged))).toBe(
            line.acknowledged.reduce((sum, { groups }) => sum + sizeOf(groups), 0),
          );
          const places = [
            ...numbersIn(state.playing),
            ...numbersIn(state.ready),
            ...state.leases.flatMap(({ groups }) => [...numbersIn(groups)]),
            ...trained,
            ...left,
          ].sort((a, b) => a - b);
          expect(places).toEqual(Array.from({ length: state.next }, (_, g) => g));
          expect(state.trainedGroups).toBe(trained.length);
          expect([state.line, state.version, state.trained]).toEqual([line.line, line.version, line.trained]);
          expect(state.next).toBeLessThanOrEqual(GROUPS);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('take nothing but what the verbs take', () => {
    expect(argumentProblem('lease', { consumer: 't', groups: 1 })).toBeUndefined();
    fc.assert(
      fc.property(
        fc.constantFrom('lease', 'acknowledge', 'version', 'rewind', 'renew'),
        fc.anything(),
        (verb, given) => {
          const problem = argumentProblem(verb as never, given);
          expect(problem === undefined || typeof problem === 'string').toBe(true);
          expect((problem ?? '').length).toBeLessThan(300);
        },
      ),
    );
  });
});
