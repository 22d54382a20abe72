// The time of a program, by a clock of the test's: what the machine took from it is not its own.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startClock } from '../clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const WALL_MS = 20_000;

/** `share`: of the time, that the program gets a processor; it always wants one. `stoppedMs`: it is stopped at first. */
async function ended(share: number, withinMs: number, stoppedMs = 0) {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const events: string[] = [];
  const alarms = {
    end: (why: string) => void events.push(`${why} ${Math.round(elapsed() / 1000)}`),
    fail: (why: string) => void events.push(`${why} ${Math.round(elapsed() / 1000)}`),
  };
  const watch = {
    programPid: async () => 1,
    keptWaitingMs: async () => elapsed() * (1 - share),
    isStopped: async () => elapsed() < stoppedMs,
    filesMade: async () => 0,
  };
  const clock = startClock(1, WALL_MS, undefined, alarms, watch);
  while (events.length === 0 && elapsed() < withinMs) await vi.advanceTimersByTimeAsync(50);
  clock.stop();
  return { events, ranMs: clock.ranMs() };
}

describe('the time of a program', () => {
  test('is the wall’s where it gets a processor whenever it wants', async () => {
    expect((await ended(1, 60_000)).events).toEqual(['wall-limit 20']);
  });

  test('is what it got on a busy machine: it is waited for, and at its limit when it has run for it', async () => {
    expect((await ended(0.5, 600_000)).events).toEqual(['wall-limit 40']);
    expect((await ended(0.03, 1_000_000)).events).toEqual(['wall-limit 667']);
  });

  test('ends, as a failure of ours, where it gets next to none', async () => {
    const { events } = await ended(0.01, 2_000_000);
    expect(events).toEqual(['the machine is too busy: the program ran for 10 s of 1000 1000']);
  });

  test('does not go on while it is stopped, and one that never goes on is a failure of ours', async () => {
    expect((await ended(1, 600_000, 30_000)).events).toEqual(['wall-limit 50']);
    const { events } = await ended(1, 2_000_000, Infinity);
    expect(events).toEqual(['the machine is too busy: the program ran for 0 s of 1000 1000']);
  });
});
