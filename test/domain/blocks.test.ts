// The blocks of a large run against a model of them: units that wait, run and ended, in blocks that follow their orders
// late, report late, lose reports, and are terminated.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Block,
  type BlocksState,
  isBlockReport,
  isDue,
  isRunFinished,
  openBlocks,
  type Order,
  orderFor,
  takeReport,
  runFacts,
  windowOf,
} from '../../domain/run/blocks.ts';
import { addCounts, addResult, type CollectionCounts, countEnded, noCounts } from '../../domain/run/progress.ts';
import {
  beginUnit,
  canStart,
  isWindowFinished,
  openWindow,
  passUnit,
  unitsInRow,
  type WindowState,
} from '../../domain/run/window.ts';
import { someResult } from './some.ts';

type Move =
  | { readonly kind: 'pause' | 'resume' | 'stop' | 'carry' }
  | { readonly kind: 'follow' | 'begin' | 'end' | 'report' | 'terminate' | 'notice'; readonly pick: number }
  | { readonly kind: 'tune'; readonly maxConcurrent: number };

const PICK = fc.nat(30);
const SOME_MOVE: fc.Arbitrary<Move> = fc.oneof(
  ...(['follow', 'begin', 'begin', 'end', 'end', 'report', 'notice'] as const).map((kind) => ({
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

/** The workflow of a block, and the run's limit when its order was given. */
interface Played {
  readonly block: string;
  readonly window: WindowState;
  limit: number;
  counted: number;
  /** It was terminated, and its root does not know. */
  isGone: boolean;
}

class Runs {
  /** Of the server: rollouts that play, and that have ended. */
  readonly running = new Set<number>();
  readonly over = new Set<number>();
  readonly played = new Map<string, Played>();
  state: BlocksState;

  constructor(state: BlocksState) {
    this.state = state;
    for (const { unit } of state.blocks.flatMap(({ before }) => before)) this.running.add(unit);
  }

  /** The root: starts what is absent, and orders what has changed; the orders are followed later. */
  act(): void {
    for (const block of this.state.blocks.filter((one) => isDue(this.state, one))) {
      block.order = orderFor(this.state, block);
      if (block.state !== 'absent') continue;
      block.state = 'open';
      const window = windowOf(this.state, block);
      this.played.set(block.name, { block: block.name, window, limit: 0, counted: 0, isGone: false });
      this.obey(this.played.get(block.name)!, block.order);
    }
    if (this.state.blocks.some((one) => isDue(this.state, one))) throw new Error('its steps have no end');
  }

  blockOf({ block }: Played): Block {
    return this.state.blocks.find(({ name }) => name === block)!;
  }

  obey(played: Played, { paused, stopping, limit }: Order): void {
    Object.assign(played.window, { paused, maxConcurrent: limit });
    played.limit = this.state.maxConcurrent;
    if (!stopping || played.window.stopping) return;
    played.window.stopping = played.window.counting = true;
  }

  follow(played: Played): void {
    if (!played.isGone) this.obey(played, this.blockOf(played).order);
  }

  /** What a block's workflow does with the next of its units. */
  begin(played: Played): void {
    const { window, isGone } = played;
    if (isGone || !canStart(window)) return;
    if (unitsInRow(window, 50) < 1) throw new Error('no unit is its own');
    const unit = window.next;
    const hasBegun = this.running.has(unit) || this.over.has(unit);
    if (window.stopping && !hasBegun) {
      passUnit(window, unit);
      // Starts of a window are asked for in order: nothing behind has begun.
      delete window.counting;
      return;
    }
    beginUnit(window, { unit, query: `q${unit}`, sample: 0 });
    if (this.over.has(unit)) this.count(played, unit);
    else this.running.add(unit);
  }

  count({ window }: Played, unit: number): void {
    window.inFlight.splice(
      window.inFlight.findIndex((one) => one.unit === unit),
      1,
    );
    window.counts.outcomes.complete++;
    window.counts.turns++;
  }

  /** A rollout ends, whether its block lives or not. */
  end(played: Played): void {
    const [first] = played.window.inFlight;
    if (!first) return;
    this.running.delete(first.unit);
    this.over.add(first.unit);
    if (!played.isGone) this.count(played, first.unit);
    else played.window.inFlight.shift();
  }

  report(played: Played): void {
    const { block, window, isGone } = played;
    if (isGone) return;
    const isOver = isWindowFinished(window);
    if (isOver) this.played.delete(block);
    const counts = structuredClone(window.counts);
    const isKnown = takeReport(this.state, { block, inFlight: window.inFlight.length, counts, ended: isOver }, 1);
    if (!isKnown) throw new Error('a block is not known');
  }

  terminate(played: Played): void {
    played.isGone = true;
  }

  /** The root finds that the block is gone. */
  notice(played: Played): void {
    if (!played.isGone) return;
    this.played.delete(played.block);
    this.blockOf(played).state = 'absent';
  }
}

const SHAPE = fc.record({
  queries: fc.integer({ min: 1, max: 90 }),
  samples: fc.integer({ min: 1, max: 3 }),
  numTurns: fc.constant(3),
});

describe('the blocks of a run', () => {
  test('play every unit, count it once, and share the limit, whatever happens in between', () => {
    fc.assert(
      fc.property(
        SHAPE,
        fc.integer({ min: 2, max: 10 }),
        fc.integer({ min: 3, max: 50 }),
        fc.array(SOME_MOVE, { maxLength: 200 }),
        fc.nat(7),
        (shape, most, max, moves, before) => {
          const window = openWindow(shape, max, 0);
          const total = shape.queries * shape.samples;
          while (window.next < Math.min(before, total, max)) {
            beginUnit(window, { unit: window.next, query: `q${window.next}`, sample: 0 });
          }
          const runs = new Runs(openBlocks(window, most));
          let stopped = false;
          const act = (move: Move) => {
            const { state } = runs;
            const all = [...runs.played.values()];
            const played = 'pick' in move ? all[move.pick % all.length] : undefined;
            if (move.kind === 'tune') state.maxConcurrent = move.maxConcurrent;
            else if (move.kind === 'pause') state.paused = true;
            else if (move.kind === 'resume') state.paused = false;
            else if (move.kind === 'stop') stopped = state.stopping = true;
            else if (move.kind === 'carry') runs.state = JSON.parse(JSON.stringify(state)) as BlocksState;
            else if (played) runs[move.kind as 'begin'](played);
            runs.act();
            const living = [...runs.played.values()].filter(({ isGone }) => !isGone);
            if (living.some(({ window: own }) => own.maxConcurrent > most)) throw new Error('one may have too many');
            if (stopped) return;
            const limits = living.reduce((sum, { window: own }) => sum + own.maxConcurrent, 0);
            const limit = Math.max(state.maxConcurrent, ...living.map((one) => one.limit));
            if (limits > limit) throw new Error(`${limits} of ${limit} may be in flight`);
          };
          runs.act();
          for (const move of moves) act(move);
          for (let turn = 0; !isRunFinished(runs.state); turn++) {
            if (turn > 2000) throw new Error('it has no end');
            for (const kind of ['resume', 'notice', 'follow', 'begin', 'begin', 'end', 'end', 'report'] as const) {
              for (let pick = runs.played.size; pick >= 0; pick--) act({ kind, pick } as Move);
            }
          }
          const { done, inFlight, counts } = runFacts(runs.state);
          expect(inFlight).toBe(0);
          expect(done).toBe(countEnded(counts));
          expect(runs.running.size).toBe(0);
          expect(done).toBe(runs.over.size);
          expect(counts.turns).toBe(done);
          if (!stopped) expect(done).toBe(total);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('count as in flight what their blocks say', () => {
    const state = openBlocks(openWindow({ queries: 2000, samples: 1, numTurns: 1 }, 1200, 7), 1000);
    const said = { block: '0-0', inFlight: 44, counts: noCounts(), ended: false };
    state.blocks[0]!.state = 'open';
    expect(takeReport(state, said, 1000)).toBe(true);
    expect(runFacts(state)).toMatchObject({ done: 0, inFlight: 44 });
    expect(takeReport(state, { ...said, block: '7-0' }, 2000)).toBe(false);
    for (const bad of [null, {}, { ...said, inFlight: -1 }, { ...said, counts: null }, { ...said, counts: {} }])
      expect(isBlockReport(bad as never)).toBe(false);
    expect(isBlockReport(said)).toBe(true);
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
    expect(isBlockReport({ block: '0-1', inFlight: 0, counts, ended: true })).toBe(true);
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
