// Speed and time left, from counts.

import { describe, expect, test } from 'vitest';
import { openRates } from '../../cli/view/progress-view.ts';
import { countsOf, progressOf } from './scripted-io.ts';

const at = (done: number, tokens: number, startedAt = 0) =>
  progressOf({ done, startedAt, counts: countsOf({ tokens }) });

describe('the speed of a run', () => {
  test('nothing is said before anything ended', () => {
    expect(openRates()(at(0, 0), 5_000)).toEqual({ tokensPerSecond: null, remainingMs: null });
  });

  test('a run followed from its start counts from its start', () => {
    const rates = openRates();
    expect(rates(at(10, 2_000), 10_000)).toEqual({ tokensPerSecond: 200, remainingMs: 90_000 });
  });

  test('whoever attaches late counts from when he attached', () => {
    const rates = openRates();
    expect(rates(at(50, 1e6), 600_000).tokensPerSecond).toBeNull();
    expect(rates(at(60, 1e6 + 500), 605_000)).toEqual({ tokensPerSecond: 100, remainingMs: 20_000 });
  });

  test('what was fast long ago does not count', () => {
    const rates = openRates();
    rates(at(50, 50_000), 10_000);
    for (let ms = 20_000; ms <= 120_000; ms += 10_000) rates(at(50 + ms / 10_000, 50_000 + ms / 1_000), ms);
    expect(rates(at(63, 50_130), 130_000).tokensPerSecond).toBeCloseTo(1, 0);
  });

  test('a clock of another machine that is ahead does no harm', () => {
    const rates = openRates();
    expect(rates(at(3, 300, 99_000), 5_000)).toEqual({ tokensPerSecond: null, remainingMs: null });
  });
});
