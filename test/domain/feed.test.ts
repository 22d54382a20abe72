// The rules of a feed against a model that knows only what trainers see: at any moment each group is in one place, along
// the surviving line none was trained twice or too old, and only the trainer that rewound last may act.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addEntry, emptyLine, groupsOf, type FeedEntry, type RewindEntry } from '../../domain/feed/entry.ts';
import { feedLines } from '../../domain/feed/lines.ts';
import { argumentProblem, feedProgress } from '../../domain/feed/messages.ts';
import * as rules from '../../domain/feed/rules.ts';
import {
  acknowledge,
  admittedGroups,
  type FeedState,
  takeEndedGroups,
  isExhausted,
  publish,
  rewind,
} from '../../domain/feed/state.ts';
import { eachNumber, numberSet, countNumbers } from '../../domain/feed/number-set.ts';
import { openedFeed } from './some.ts';

const [GROUPS, B, ETA] = [24, 3, 1];
const who = fc.nat(2);
const step = fc.oneof(
  fc.record({ do: fc.constant('end' as const), n: fc.nat(4), drop: fc.boolean() }),
  fc.record({ do: fc.constant('end' as const), n: fc.constant(0), drop: fc.constant(false) }),
  fc.record({ do: fc.constant('lease' as const), who, n: fc.integer({ min: 1, max: 5 }), seconds: fc.nat(20) }),
  fc.record({ do: fc.constant('lease again' as const), who, n: fc.nat(9) }),
  fc.record({ do: fc.constant('acknowledge' as const), who, n: fc.nat(9), by: fc.nat(3) }),
  fc.record({ do: fc.constant('version' as const), who, by: fc.nat(3) }),
  fc.record({ do: fc.constant('rewind' as const), who, by: fc.nat(3) }),
  fc.record({ do: fc.constant('rewind again' as const), who }),
  fc.record({ do: fc.constant('wait' as const), seconds: fc.nat(30) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Three trainers on one feed; each knows its own line and its own leases. */
class World {
  readonly state = openedFeed(GROUPS, B, ETA);
  /** As the ledger has it. */
  readonly line = emptyLine();
  readonly trainers = [0, 1, 2].map(() => ({ line: 0, rewind: '', answer: -1 }));
  readonly leases: { readonly id: string; readonly request: string; readonly who: number; readonly line: number }[] =
    [];
  readonly leftOut = new Set<number>();
  /** The version at which each group was admitted. */
  readonly begunAt = new Map<number, number>();
  newest = -1;
  now = 0;
  count = 0;
  entries = 0;

  note(said: object): ReturnType<typeof addEntry> {
    return addEntry(this.line, { ...said, number: ++this.entries, previous: null, at: 0 } as unknown as FeedEntry);
  }

  mayAct(who: number): boolean {
    return this.newest === who || (this.newest === -1 && this.trainers[who]!.line === 0);
  }

  /** A refusal changes nothing, and is `stale-line` for all but the newest trainer. */
  refused(before: FeedState, who: number, found: unknown): boolean {
    assert.deepEqual(this.state, before);
    const isRefused = typeof found === 'object' && found !== null && rules.isFeedRefusal(found);
    if (!this.mayAct(who)) assert.equal((found as { reason?: unknown } | undefined)?.reason, 'stale-line');
    else if (isRefused) assert.notEqual(found.reason, 'stale-line');
    return isRefused;
  }

  take(one: Step): void {
    const { state } = this;
    this.count++;
    for (let g = 0; g < admittedGroups(state); g++) if (!this.begunAt.has(g)) this.begunAt.set(g, state.version);
    if (one.do === 'wait') this.now += one.seconds * 1000;
    else if (one.do === 'end') this.end(one.n, one.drop);
    else {
      const { who } = one;
      const { line } = this.trainers[who]!;
      const before = structuredClone(state);
      if (one.do === 'lease') this.lease(before, who, `q${this.count}`, one.n, one.seconds);
      else if (one.do === 'lease again') {
        const known = this.leases[one.n % Math.max(1, this.leases.length)];
        if (known) this.lease(before, known.who, known.request, 1, 5, known);
      } else if (one.do === 'acknowledge') this.acknowledge(before, who, one.n, one.by);
      else if (one.do === 'version') {
        const version = state.version + one.by - 1;
        const found = rules.checkVersion(state, { version: Math.max(0, version), weights: null, line });
        if (this.refused(before, who, found) || found !== false) return;
        assert.equal(version, state.version + 1);
        const groups = this.line.acknowledged.filter((one) => one.version === version).map((one) => one.groups);
        const trained = groups.reduce((sum, set) => sum + countNumbers(set), 0);
        assert.equal(trained >= B || (trained > 0 && isExhausted(state)), true);
        this.note({ kind: 'version', version, weights: null });
        publish(state, version, null);
      } else this.rewind(one);
    }
  }

  end(n: number, drop: boolean): void {
    const { state } = this;
    const open = [...eachNumber(state.playing)];
    for (let g = state.next; g < admittedGroups(state); g++) open.push(g);
    const group = open[n % Math.max(1, open.length)];
    if (group === undefined) return;
    if (drop) this.leftOut.add(group);
    takeEndedGroups(state, [{ group, leftOut: drop ? 'zero-variance' : null }], false);
  }

  lease(
    before: FeedState,
    who: number,
    request: string,
    groups: number,
    seconds: number,
    known?: { readonly id: string },
  ): void {
    const { line } = this.trainers[who]!;
    const given = { consumer: `t${who}`, groups, least: 1, seconds, request, line };
    const found = rules.checkLease(this.state, given);
    if (this.refused(before, who, found)) return;
    const isHeld = this.state.leases.some(({ id }) => id === known?.id);
    const lease = rules.takeLease(this.state, given, `r~${this.count}`, this.now);
    // Whatever could be given was given.
    if (!lease) return assert.equal(rules.canLease(this.state, given, this.now), isExhausted(this.state));
    if (isHeld) assert.equal(lease.id, known!.id);
    assert.equal(lease.until, this.now + seconds * 1000);
    if (lease.id === `r~${this.count}`) this.leases.push({ id: lease.id, request, who, line });
    assert.ok(countNumbers(lease.groups) <= B);
  }

  acknowledge(before: FeedState, who: number, n: number, by: number): void {
    const { state } = this;
    const lease = this.leases[n % Math.max(1, this.leases.length)];
    if (!lease) return;
    const version = state.version + by;
    const found = rules.checkAcknowledge(state, { lease: lease.id, version, line: this.trainers[who]!.line });
    // Also without its line a lease of a line that ended is not taken.
    const bare = rules.checkAcknowledge(state, { lease: lease.id, version });
    if (lease.line !== state.line && !('before' in bare)) assert.ok('reason' in bare);
    if (this.refused(before, who, found) || rules.isFeedRefusal(found)) return;
    if ('before' in found) return;
    assert.deepEqual([version, lease.line], [state.version + 1, state.line]);
    const { id, groups, version: leasedAt } = found.lease;
    this.note({ kind: 'trained', lease: id, consumer: 't', groups, leasedAt, version });
    acknowledge(state, found.lease, version);
  }

  rewind(one: Extract<Step, { readonly do: 'rewind' | 'rewind again' }>): void {
    const { state } = this;
    const me = this.trainers[one.who]!;
    const before = structuredClone(state);
    if (one.do === 'rewind again') {
      if (me.rewind === '') return;
      const again = rules.checkRewind(state, { version: 0, request: me.rewind });
      if (this.newest === one.who) assert.equal((again as { line?: unknown } | undefined)?.line, me.line);
      else assert.equal((again as { reason?: unknown } | undefined)?.reason, 'stale-line');
      return;
    }
    const to = Math.max(0, state.version + 1 - one.by);
    const request = `rewind ${this.count}`;
    const found = rules.checkRewind(state, { version: to, request });
    assert.deepEqual(state, before);
    if (found) return assert.ok(to > Math.max(this.line.version, this.line.trained));
    const gone = this.note({ kind: 'rewind', to, request } satisfies Partial<RewindEntry>);
    rewind(state, to, groupsOf(gone), request);
    [me.line, me.rewind, this.newest] = [state.line, request, one.who];
    assert.equal(rules.checkVersion(state, { version: state.version, line: me.line }), true);
  }

  /** Each group below `next` is in exactly one place, and the state is what the ledger says. */
  prove(): void {
    const { state, line } = this;
    const trained = [...eachNumber(groupsOf(line.acknowledged))];
    assert.equal(
      trained.length,
      line.acknowledged.reduce((sum, { groups }) => sum + countNumbers(groups), 0),
    );
    const places = [
      ...eachNumber(state.playing),
      ...eachNumber(state.ready),
      ...state.leases.flatMap(({ groups }) => [...eachNumber(groups)]),
      ...trained,
      ...this.leftOut,
    ].sort((a, b) => a - b);
    assert.deepEqual(
      places,
      Array.from({ length: state.next }, (_, g) => g),
    );
    assert.equal(state.trainedGroups, trained.length);
    const ahead = line.acknowledged.filter(({ version }) => version > line.version);
    assert.equal(
      state.ahead,
      ahead.reduce((sum, { groups }) => sum + countNumbers(groups), 0),
    );
    assert.deepEqual([state.line, state.version, state.trained], [line.line, line.version, line.trained]);
    assert.deepEqual([state.floors, state.rewinds.length], [line.floors, line.rewinds.length]);
  }
}

describe('the rules of a feed', () => {
  it('lose no group, train none twice along the surviving line, and obey the trainer that rewound last', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 150 }), (steps) => {
        const world = new World();
        for (const one of steps) {
          world.take(one);
          world.prove();
        }
      }),
      { numRuns: 120 },
    );
  });

  it('train no group too old, where the oldest end first and one trainer goes in steps', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 150 }), (steps) => {
        const world = new World();
        for (const one of steps) {
          const before = world.line.acknowledged.length;
          world.take(one.do === 'end' ? { ...one, n: 0 } : one.do === 'wait' ? { ...one, seconds: 0 } : one);
          for (const { version, groups } of world.line.acknowledged.slice(before))
            for (const g of eachNumber(groups)) expect(version - 1 - world.begunAt.get(g)!).toBeLessThanOrEqual(ETA);
        }
      }),
      { numRuns: 120 },
    );
  });

  it('say what is stale, what is refused, and what would be right', () => {
    const state = openedFeed(20, B, ETA);
    takeEndedGroups(
      state,
      [0, 1, 2, 3].map((group) => ({ group, leftOut: null })),
      false,
    );
    const lease = rules.takeLease(state, { consumer: 't', groups: 2 }, 'r~1', 0)!;
    for (const version of [2, 101, 2 ** 31 - 1])
      expect(rules.checkAcknowledge(state, { lease: lease.id, version })).toMatchObject({ reason: 'version-skips' });
    expect(rules.checkVersion(state, { version: 1 })).toMatchObject({ reason: 'step-too-small' });
    acknowledge(state, lease, 1);
    expect(rules.checkAcknowledge(state, { lease: lease.id, version: 1 })).toMatchObject({ before: { groups: 2 } });
    expect(rules.checkVersion(state, { version: 1 })).toMatchObject({
      fix: expect.stringContaining('acknowledge 1 more'),
    });
    expect(rules.checkVersion(state, { version: 2 })).toMatchObject({ reason: 'version-skips' });
    expect(rules.checkVersion({ ...state, shape: { ...state.shape, batchGroups: null } }, { version: 1 })).toBe(false);
    const third = { ...state, line: 3 };
    expect(rules.checkLine(third, 2)?.message).toBe('Line 2 has ended: a later `rewind` began line 3 of run "r".');
    expect(rules.checkLine(third, undefined)?.message).toContain('`line` is missing');
    expect(rules.checkLine(third, 9)?.message).toContain('has not begun');
    expect(rules.checkLine(third, 3)).toBeUndefined();
  });

  it('give the groups of an overdue lease to others only where these are needed', () => {
    const state = { ...openedFeed(4, 2, 1), concluded: true, next: 4, ready: numberSet([0, 1, 2]) };
    const [mine, theirs] = [
      { consumer: 'a', groups: 2, seconds: 10 },
      { consumer: 'b', groups: 1, seconds: 10 },
    ];
    const lease = rules.takeLease(state, mine, 'r~1', 0)!;
    expect(rules.takeLease(state, theirs, 'r~2', 20_000)?.groups).toEqual([[2, 2]]);
    expect(rules.checkAcknowledge(state, { lease: lease.id, version: 1 })).toHaveProperty('lease');
    expect(rules.canLease(state, theirs, 5000)).toBe(false);
    expect(rules.takeLease(state, theirs, 'r~3', 5000)).toBeUndefined();
    expect(rules.takeLease(state, theirs, 'r~4', 20_000)?.groups).toEqual([[0, 0]]);
    expect(rules.checkAcknowledge(state, { lease: lease.id, version: 1 })).toMatchObject({ reason: 'no-such-lease' });
  });

  it('take nothing but what the verbs take', () => {
    expect(argumentProblem('lease', { consumer: 't', groups: 1 })).toBeUndefined();
    fc.assert(
      fc.property(fc.constantFrom('lease', 'acknowledge', 'version', 'rewind'), fc.anything(), (verb, given) => {
        const problem = argumentProblem(verb as never, given);
        expect(problem === undefined || typeof problem === 'string').toBe(true);
        expect((problem ?? '').length).toBeLessThan(300);
      }),
    );
  });

  it.each([
    ['an open run waits for its trainer', { ready: numberSet([0, 1]), next: 6 }, 'or by `everturn cancel`'],
    [
      'a run that has ended is not to be cancelled',
      { ready: numberSet([0, 1]), trainedGroups: 22 },
      '2 groups left for',
    ],
    ['a run that was cancelled neither', { ready: numberSet([0]), concluded: true }, '1 group left for the trainer'],
    ['a run that is trained waits for nothing', { trainedGroups: 24 }, '24 of 24 admitted'],
    ['a run that plays waits for nothing', { playing: numberSet([3]) }, '1 being played'],
  ])('are told so that `cancel` is named where it can act: %s', (_, given, last) => {
    const progress = feedProgress({ ...openedFeed(GROUPS, B, ETA), version: 9, ...given });
    expect(feedLines(progress, progress, String).at(-1)).toContain(last);
  });
});
