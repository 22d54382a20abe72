// Lines of weights against an oracle that remembers every rewind, and fencing against one that knows who rewound last.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLine, repeatedRewind } from '../../domain/feed/fence.ts';
import { addFloor, type Floor, lineLabel, survives } from '../../domain/feed/line.ts';
import * as limits from '../../domain/feed/limits.ts';
import * as rules from '../../domain/feed/rules.ts';
import type { FeedState } from '../../domain/feed/state.ts';
import { setOf } from '../../domain/run/number-set.ts';
import { versionNumber } from '../../domain/weights/weight-version.ts';

const span = (version: number, versionLabel?: string) => ({
  ...{ version, start: 0, end: 1 },
  ...(versionLabel === undefined ? {} : { versionLabel }),
});

function state(): FeedState {
  const filter = { successRate: null, dropZeroVariance: false, minMembers: null };
  return {
    run: 'r',
    shape: { queries: 40, samples: 1, epochs: 1, batchGroups: 2, maxStaleness: 1, filter },
    ...{ floors: [], rewinds: [], entries: 0, last: null, line: 0, version: 0, weights: null, loaded: -1, trained: 0 },
    ...{ trainedGroups: 0, next: 40, playing: [], ready: setOf(Array.from({ length: 40 }, (_, i) => i)) },
    ...{ leases: [], expired: [], acknowledged: [], ahead: [], admissions: [], restarts: {}, concluded: true },
    leftOut: { members: 0, 'success-rate': 0, 'zero-variance': 0 },
  };
}

describe('the floors of lines', () => {
  it('say of every weights whether a later rewind took them off', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 60 }), (rewinds) => {
        let floors: Floor[] = [];
        for (const [line, to] of rewinds.entries()) floors = addFloor(floors, line, to);
        for (let line = 0; line <= rewinds.length; line++) {
          for (let version = 0; version <= 13; version++) {
            // Rewind number n, from 0, ended line n: it comes after weights of the lines up to n.
            const ended = rewinds.some((to, n) => n >= line && version > to);
            expect(survives([span(version, lineLabel(line, version))], floors)).toBe(!ended);
            const unlabelled = survives([span(version)], floors);
            expect(unlabelled).toBe(rewinds.some((to) => version > to) ? null : true);
          }
        }
      }),
    );
  });

  it('stay few, and call no ended weights surviving', () => {
    let floors: Floor[] = [];
    for (let line = 0; line < 5000; line++) floors = addFloor(floors, line, line);
    expect(floors.length).toBeLessThanOrEqual(256);
    for (const line of [0, 10, 4000, 4990, 4999]) {
      expect(survives([span(line + 1, lineLabel(line, line + 1))], floors)).toBe(false);
    }
    expect(survives([span(4999, lineLabel(4999, 4999))], floors)).toBe(true);
  });

  it('are asked for every span: one that ended is enough', () => {
    const floors = addFloor([], 0, 3);
    expect(survives([span(3, 'line0:v3'), span(4, 'line1:v4')], floors)).toBe(true);
    expect(survives([span(3, 'line0:v3'), span(4, 'line0:v4')], floors)).toBe(false);
    expect(survives([span(4, 'step-4'), span(4, 'line0:v4')], floors)).toBe(false);
    expect(survives([span(4, 'step-4'), span(4, 'line1:v4')], floors)).toBeNull();
  });

  it('have labels that stand for their version', () => {
    for (const [line, version] of [
      [0, 0],
      [3, 17],
      [999_999_999, 2 ** 31 - 1],
    ] as const)
      expect(versionNumber(lineLabel(line, version))).toBe(version);
  });
});

const move = fc.record({ who: fc.nat(2), verb: fc.constantFrom('rewind', 'lease', 'acknowledge', 'version', 'again') });

describe('fencing', () => {
  it('lets only the trainer act that rewound last, whatever three of them do', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
        const s = state();
        const trainers = [0, 1, 2].map(() => ({ line: 0, request: '', lease: null as string | null }));
        let last = -1;
        for (const [i, { who, verb }] of moves.entries()) {
          const me = trainers[who]!;
          const mine = last === who || (last === -1 && me.line === 0);
          const stale = (found: unknown) => expect(found).toMatchObject({ reason: 'stale-line' });
          if (verb === 'rewind') {
            me.request = `q${i}`;
            expect(limits.mayRewind(s, { version: s.version, request: me.request })).toBe(true);
            rules.rewind(s, s.version, [], me.request);
            me.line = s.line;
            me.lease = null;
            last = who;
          } else if (verb === 'again') {
            const again = repeatedRewind(s, me.request);
            if (me.request === '') expect(again).toBeUndefined();
            else if (mine) expect(again).toMatchObject({ line: me.line, version: expect.any(Number) });
            else stale(again);
          } else if (verb === 'lease') {
            const may = limits.mayLease(s, { consumer: 't', groups: 1, line: me.line });
            if (!mine) stale(may);
            else me.lease = rules.takeLease(s, { consumer: 't', groups: 1 }, `r~${i}`, i)?.id ?? me.lease;
          } else if (verb === 'acknowledge') {
            const given = { lease: me.lease ?? 'r~none', version: s.version + 1, line: me.line };
            const checked = limits.mayAcknowledge(s, given);
            if (!mine) stale(checked);
            else if ('lease' in checked) rules.acknowledge(s, checked.lease, given.version);
            // Also without its line: the lease has ended.
            const { line: _, ...bare } = given;
            if (!mine) expect(limits.mayAcknowledge(s, bare)).toHaveProperty('reason');
          } else {
            const may = limits.mayPublish(s, { version: s.version, line: me.line });
            if (mine) expect(may).toBe(true);
            else stale(may);
          }
        }
      }),
    );
  });

  it('says what is stale, and what to do', () => {
    const s = { ...state(), line: 3 };
    expect(checkLine(s, 2)?.message).toBe('Line 2 has ended: a later `rewind` began line 3 of run "r".');
    expect(checkLine(s, undefined)?.message).toContain('`line` is missing');
    expect(checkLine(s, 9)?.message).toContain('has not begun');
    expect(checkLine(s, 3)).toBeUndefined();
  });
});

describe('a lease near the end', () => {
  it('is smaller than asked for only when nobody else holds groups that may come back', () => {
    const s = { ...state(), ready: setOf([38, 39]), shape: { ...state().shape, batchGroups: 4 } };
    rules.takeLease(s, { consumer: 'other', groups: 1 }, 'r~1', 0);
    const wanted = { consumer: 't', groups: 4 };
    expect([rules.takeLease(s, wanted, 'r~2', 0), rules.canLease(s, wanted)]).toEqual([undefined, false]);
    expect(rules.takeLease(structuredClone(s), { ...wanted, least: 1 }, 'r~2', 0)).toBeDefined();
    rules.endLeases(s, () => true);
    expect(rules.canLease(s, wanted)).toBe(true);
    expect(rules.takeLease(s, wanted, 'r~2', 0)?.groups).toEqual([[38, 39]]);
  });
});
