// The blocks of a large run against a model of them: units that wait, run and ended, in blocks that follow their orders
// late, report late, lose reports, and are terminated.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BlocksState,
  closed,
  isFinished,
  openBlocks,
  report,
  runFacts,
  stepsOf,
  take,
} from '../../domain/run/blocks.ts';
import { isBlockReport, type Order } from '../../domain/run/block-messages.ts';
import { addCounts, addResult, type CollectionCounts, ended, noCounts } from '../../domain/run/progress.ts';
import { openWindow } from '../../domain/run/window.ts';
import { someResult } from './some.ts';

type Move =
  | { readonly kind: 'pause' | 'resume' | 'stop' | 'carry' }
  | { readonly kind: 'follow' | 'begin' | 'end' | 'report' | 'terminate'; readonly pick: number }
  | { readonly kind: 'tune'; readonly maxConcurrent: number };

const PICK = fc.nat(30);
const SOME_MOVE: fc.Arbitrary<Move> = fc.oneof(
  ...(['follow', 'begin', 'begin', 'end', 'end', 'report'] as const).map((kind) => ({
    weight: 6,
    arbitrary: PICK.map<Move>((pick) => ({ kind, pick })),
  })),
  { weight: 1, arbitrary: PICK.map<Move>((pick) => ({ kind: 'terminate', pick })) },
  { weight: 1, arbitrary: fc.constantFrom<Move>({ kind: 'pause' }, { kind: 'resume' }, { kind: 'carry' }) },
  { weight: 1, arbitrary: fc.constantFrom<Move>({ kind: 'resume' }, { kind: 'stop' }, { kind: 'carry' }) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 1, max: 60 }).map<Move>((maxConcurrent) => ({ kind: 'tune', maxConcurrent })),
  },
);

/** The workflow of a block: its units, and the order that it follows. */
interface Played {
  readonly name: string;
  readonly to: number;
  order: Order;
  /** Units of it in flight. */
  readonly inFlight: Set<number>;
  next: number;
  counted: number;
}

class Runs {
  readonly running = new Set<number>();
  readonly over = new Set<number>();
  readonly played = new Map<string, Played>();
  state: BlocksState;

  constructor(state: BlocksState) {
    this.state = state;
  }

  /** What may be in flight by the orders that the blocks follow at the moment. */
  capacity(): number {
    return [...this.played.values()].reduce((sum, b) => sum + Math.max(b.order.window, b.inFlight.size), 0);
  }

  /** All that is due, which is soon nothing. */
  step(): void {
    for (let n = 0; ; n++) {
      const steps = stepsOf(this.state);
      if (steps.orders.length + steps.opens.length === 0) break;
      if (n > 3) throw new Error('its steps have no end');
      take(this.state, steps);
    }
    for (const block of this.state.blocks.filter(({ absent }) => absent)) {
      block.absent = false;
      if (this.played.has(block.name)) continue;
      const { name, to, from, order } = block;
      this.played.set(name, { name, to, order, inFlight: new Set(), next: from, counted: 0 });
    }
  }

  /** What a block's workflow does: starts the next of its units, if its order allows it. */
  begin(block: Played): void {
    const { paused, stopping, window } = block.order;
    if (paused || stopping || block.next >= block.to || block.inFlight.size >= window) return;
    const unit = block.next++;
    // Of a block that was started again: its record is there, or its rollout is played.
    if (this.over.has(unit)) block.counted++;
    else block.inFlight.add(unit);
    if (!this.over.has(unit)) this.running.add(unit);
  }

  end(block: Played): void {
    const [unit] = block.inFlight;
    if (unit === undefined) return;
    block.inFlight.delete(unit);
    this.running.delete(unit);
    this.over.add(unit);
    block.counted++;
  }

  report(block: Played): void {
    const hasEnded = block.inFlight.size === 0 && (block.order.stopping || block.next >= block.to);
    const counts = noCounts();
    counts.outcomes.complete = counts.turns = block.counted;
    if (hasEnded) this.played.delete(block.name);
    const { name, order, next, inFlight } = block;
    report(this.state, { block: name, order: order.order, next, inFlight: inFlight.size, counts, ended: hasEnded });
  }

  follow(block: Played): void {
    const open = this.state.blocks.find(({ name }) => name === block.name)!;
    const { stopping } = block.order;
    if (open.order.order > block.order.order)
      block.order = { ...open.order, stopping: stopping || open.order.stopping };
  }

  terminate(block: Played): void {
    this.played.delete(block.name);
    const open = this.state.blocks.find(({ name }) => name === block.name)!;
    // Rollouts that a run which stops has not heard of play to their own end.
    for (const unit of block.inFlight) {
      if (!this.state.stopping || unit < open.next) continue;
      this.running.delete(unit);
      this.over.add(unit);
    }
    closed(this.state, open);
  }
}

const SHAPE = fc.record({
  queries: fc.integer({ min: 1, max: 60 }),
  samples: fc.integer({ min: 1, max: 3 }),
  numTurns: fc.constant(3),
});

describe('the blocks of a run', () => {
  test('play every unit, count it once, and never have more in flight than the limit, whatever happens in between', () => {
    fc.assert(
      fc.property(
        SHAPE,
        fc.integer({ min: 2, max: 10 }),
        fc.integer({ min: 3, max: 50 }),
        fc.array(SOME_MOVE, { maxLength: 150 }),
        (shape, most, max, moves) => {
          const runs = new Runs(openBlocks(openWindow(shape, max, 0), most));
          const total = shape.queries * shape.samples;
          let limit = max;
          let stopped = false;
          let terminated = false;
          const act = (move: Move) => {
            const { state } = runs;
            const all = [...runs.played.values()];
            const block = 'pick' in move ? all[move.pick % all.length] : undefined;
            if (move.kind === 'tune') state.maxConcurrent = move.maxConcurrent;
            else if (move.kind === 'pause') state.paused = true;
            else if (move.kind === 'resume') state.paused = false;
            else if (move.kind === 'stop') stopped = state.stopping = true;
            else if (move.kind === 'carry') runs.state = JSON.parse(JSON.stringify(state)) as BlocksState;
            else if (block) {
              terminated ||= move.kind === 'terminate';
              runs[move.kind as 'begin'](block);
            }
            runs.step();
            // When the limit falls, what is in flight may stay, and blocks that have not heard of it go on until then.
            limit = Math.max(runs.state.maxConcurrent, Math.min(limit, runs.capacity()));
            if (!terminated && runs.running.size > limit) throw new Error(`${runs.running.size} of ${limit} in flight`);
            for (const { inFlight } of runs.played.values())
              if (inFlight.size > most) throw new Error('one has too many');
            if (runs.state.blocks.length > 60 + 100) throw new Error('too many blocks');
          };
          runs.step();
          for (const move of moves) act(move);
          for (let turn = 0; !isFinished(runs.state); turn++) {
            if (turn > 1000) throw new Error('it has no end');
            for (const kind of ['resume', 'follow', 'begin', 'begin', 'end', 'end', 'report'] as const) {
              for (let pick = 0; pick < Math.max(1, runs.played.size); pick++) act({ kind, pick } as Move);
            }
          }
          const { done, inFlight, counts } = runFacts(runs.state);
          expect(inFlight).toBe(0);
          expect(done).toBe(ended(counts));
          expect(runs.running.size).toBe(0);
          expect(runs.state.counts.turns).toBe(done);
          if (!stopped) expect(done).toBe(total);
          else if (!terminated) expect(done).toBe(runs.over.size);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('fill the limit as soon as there are units, in the order of the data set', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1001, max: 20_000 }), fc.integer({ min: 1, max: 200_000 }), (max, queries) => {
        const state = openBlocks(openWindow({ queries, samples: 1, numTurns: 1 }, max, 0), 1000);
        take(state, stepsOf(state));
        const windows = state.blocks.map(({ order, from, to }) => Math.min(order.window, to - from));
        const flying = windows.reduce((sum, n) => sum + n, 0);
        expect(flying).toBeLessThanOrEqual(max);
        expect(flying).toBeGreaterThanOrEqual(0.95 * Math.min(max, queries));
        expect(state.blocks.every(({ order }) => order.window <= 1000)).toBe(true);
        state.blocks.forEach(({ from }, i) => expect(from).toBe(i === 0 ? 0 : state.blocks[i - 1]!.to));
      }),
    );
  });

  test('go on from a window that has rollouts in flight, which are the first block', () => {
    const window = openWindow({ queries: 5000, samples: 1, numTurns: 1 }, 3000, 7);
    window.next = 40;
    window.inFlight = [
      { unit: 3, query: 'q3', sample: 0 },
      { unit: 39, query: 'q39', sample: 0 },
    ];
    const state = openBlocks(window, 1000);
    take(state, stepsOf(state));
    const [first, ...others] = state.blocks;
    expect(first).toMatchObject({ name: '40-40', inFlight: 2, before: window.inFlight });
    expect(others[0]!.from).toBe(40);
    expect(others.every(({ inFlight }) => inFlight === 0)).toBe(true);
    expect(runFacts(state)).toMatchObject({ done: 0, inFlight: 2 });
    expect(state.blocks.reduce((sum, { held }) => sum + held, 0)).toBeLessThanOrEqual(3000);
  });

  test('count as in flight what has begun, and hold room for what is only asked to begin', () => {
    const state = openBlocks(openWindow({ queries: 2000, samples: 1, numTurns: 1 }, 1200, 7), 1000);
    take(state, stepsOf(state));
    const [{ name, order }] = state.blocks as [(typeof state.blocks)[0]];
    const said = { block: name, order: order.order, next: 60, inFlight: 60, counts: noCounts(), ended: false };
    expect(report(state, { ...said, starting: 16 }, 1000)).toBe(true);
    expect(runFacts(state)).toMatchObject({ done: 0, inFlight: 44, heardAt: [1000] });
    expect(state.blocks[0]!.held).toBe(order.window);
    report(state, said, 3000);
    expect(runFacts(state)).toMatchObject({ inFlight: 60, heardAt: [3000] });
    expect(isBlockReport({ ...said, starting: -1 })).toBe(false);
  });
});

describe('counts', () => {
  test('are added whatever they hold: a new kind of count needs a line here', () => {
    const counts: Required<CollectionCounts> = {
      outcomes: { complete: 1, undecided: 2, failed: 3, cancelled: 4 },
      ...{ reasons: { timeout: 3 }, boundaries: { model: 3 }, verdicts: { right: { equal: 2 } } },
      ...{ turns: 5, tokens: 6, judgedAt: [7, 8], rightAt: [1, 2], rightBy: [1, 3], steered: 2 },
      rewardAt: [{ count: 2, sum: 3, squares: 5, deviations: 0.5, min: 1, max: 2 }],
      failures: [{ query: 'q', sample: 0, outcome: 'failed', reason: 'timeout' }],
    };
    const sum = noCounts();
    addCounts(sum, counts);
    expect(sum).toEqual(counts);
    expect(isBlockReport({ block: '0-1', order: 1, next: 1, inFlight: 0, counts, ended: true })).toBe(true);
  });

  test('of parts add up to those of the whole, in any division', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(someResult(4), fc.nat(3)), { maxLength: 40 }), (results) => {
        const whole = noCounts();
        const parts = [0, 1, 2, 3].map(noCounts);
        for (const [result, part] of results) {
          addResult(whole, result, 4);
          addResult(parts[part]!, result, 4);
        }
        const sum = noCounts();
        for (const part of parts) addCounts(sum, part);
        const { failures, ...counted } = whole;
        const { failures: found, ...summed } = sum;
        expect(summed).toEqual(counted);
        expect(found.length).toBe(failures.length);
      }),
    );
  });
});
