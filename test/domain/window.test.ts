// The window against a model of it: sets of units that wait, run and ended.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginUnit,
  canStart,
  isWindowFinished,
  openWindow,
  settleUnit,
  totalUnits,
  type WindowState,
} from '../../domain/run/window.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { countEnded } from '../../domain/run/progress.ts';
import { someResult } from './some.ts';

type Move =
  | { readonly kind: 'start' | 'pause' | 'resume' | 'stop' | 'carry' | 'settle-twice' }
  | { readonly kind: 'settle'; readonly pick: number }
  | { readonly kind: 'tune'; readonly maxConcurrent: number };

const SOME_MOVE: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Move>({ kind: 'start' }) },
  { weight: 6, arbitrary: fc.nat(50).map<Move>((pick) => ({ kind: 'settle', pick })) },
  { weight: 1, arbitrary: fc.constantFrom<Move>({ kind: 'pause' }, { kind: 'stop' }, { kind: 'settle-twice' }) },
  { weight: 2, arbitrary: fc.constantFrom<Move>({ kind: 'resume' }, { kind: 'carry' }) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 6 }).map<Move>((maxConcurrent) => ({ kind: 'tune', maxConcurrent })),
  },
);
const SHAPE = fc.record({
  queries: fc.integer({ min: 1, max: 6 }),
  samples: fc.integer({ min: 1, max: 3 }),
  numTurns: fc.constant(3),
});
const [RESULT] = fc.sample(someResult(3), { numRuns: 1, seed: 1 }) as [RolloutResult];

describe('the window of a collection', () => {
  test('every unit is started once, in order, and counted once, whatever happens in between', () => {
    fc.assert(
      fc.property(
        SHAPE,
        fc.integer({ min: 1, max: 6 }),
        fc.array(SOME_MOVE, { maxLength: 80 }),
        (shape, max, moves) => {
          let window = openWindow(shape, max, 0);
          const running = new Set<number>();
          const over = new Set<number>();
          for (const move of moves) {
            window = play(window, move, running, over);
            const flying = window.inFlight.map((u) => u.unit);
            expect(flying.toSorted((a, b) => a - b)).toEqual([...running].toSorted((a, b) => a - b));
            expect(window.next).toBe(running.size + over.size);
            expect(countEnded(window.counts)).toBe(over.size);
            expect(canStart(window)).toBe(
              !window.paused &&
                !window.stopping &&
                window.next < totalUnits(shape) &&
                running.size < window.maxConcurrent,
            );
            expect(isWindowFinished(window)).toBe(
              running.size === 0 && (window.stopping || over.size === totalUnits(shape)),
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a unit out of order is refused', () => {
    const window = openWindow({ queries: 3, samples: 2, numTurns: 1 }, 4, 0);
    beginUnit(window, { unit: 0, query: 'a', sample: 0 });
    expect(() => beginUnit(window, { unit: 0, query: 'a', sample: 0 })).toThrow('unit 0 begun, 1 is next');
    expect(() => beginUnit(window, { unit: 2, query: 'b', sample: 0 })).toThrow('unit 2 begun, 1 is next');
    expect(window.next).toBe(1);
  });

  test('a lowered concurrency lets running rollouts end and starts no new one until there is room', () => {
    const window = openWindow({ queries: 9, samples: 1, numTurns: 1 }, 3, 0);
    for (const unit of [0, 1, 2]) beginUnit(window, { unit, query: `${unit}`, sample: 0 });
    window.maxConcurrent = 1;
    for (const unit of [0, 1]) {
      settleUnit(window, unit, RESULT);
      expect(canStart(window)).toBe(false);
    }
    settleUnit(window, 2, RESULT);
    expect(canStart(window)).toBe(true);
  });
});

/** Plays one move on the window and on the model, and returns the window, which a `carry` makes anew from JSON. */
function play(window: WindowState, move: Move, running: Set<number>, over: Set<number>): WindowState {
  if (move.kind === 'start' && canStart(window)) {
    const unit = window.next;
    beginUnit(window, { unit, query: `q${unit}`, sample: 0 });
    expect(running.has(unit) || over.has(unit)).toBe(false);
    running.add(unit);
  }
  if (move.kind === 'settle' && running.size > 0) {
    const unit = [...running][move.pick % running.size]!;
    settleUnit(window, unit, RESULT);
    running.delete(unit);
    over.add(unit);
  }
  if (move.kind === 'settle-twice') for (const unit of over) settleUnit(window, unit, RESULT);
  if (move.kind === 'pause') window.paused = true;
  if (move.kind === 'resume') window.paused = false;
  if (move.kind === 'stop') window.stopping = true;
  if (move.kind === 'tune') window.maxConcurrent = move.maxConcurrent;
  return move.kind === 'carry' ? (JSON.parse(JSON.stringify(window)) as WindowState) : window;
}
