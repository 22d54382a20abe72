// How often work says that it lives: often enough for the server's limit of 10 s, and seldom enough that thousands of
// beats leave the server time for anything else. Time is made here.

import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withHeartbeats } from '../../activities/heartbeat.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** All that happens in so many milliseconds. */
async function pass(ms: number): Promise<void> {
  await new Promise(setImmediate); // work that was begun is under way
  vi.advanceTimersByTime(ms);
}

/** One piece of work that lasts until it is ended. */
function work() {
  let end = () => {};
  const beats: unknown[] = [];
  let tell: (progress: { tokens: number }) => void = () => {};
  const environment = new MockActivityEnvironment();
  environment.on('heartbeat', (beat: unknown) => beats.push(beat));
  const done = environment.run(() =>
    withHeartbeats<void, { tokens: number }>((_, progress) => {
      tell = progress;
      return new Promise<void>((resolve) => (end = resolve));
    }),
  );
  return {
    beats,
    tell: (tokens: number) => tell({ tokens }),
    async end() {
      end();
      await done;
    },
  };
}

describe('heartbeats', () => {
  test('work by itself beats every second, with what it said last', async () => {
    const one = work();
    one.tell(3);
    await pass(2500);
    one.tell(7);
    await pass(1000);
    expect(one.beats).toEqual([{ tokens: 3 }, { tokens: 3 }, { tokens: 7 }]);
    await one.end();
    await pass(10_000);
    expect(one.beats).toHaveLength(3);
  });

  test.each([300, 1200])(
    '%i at once beat seldom enough for the server, and each within half of its limit',
    async (n) => {
      const all = Array.from({ length: n }, () => work());
      await pass(5000); // the first had no company when they began
      const before = all.map(({ beats }) => beats.length);
      const SECONDS = 15;
      await pass(SECONDS * 1000);
      const made = all.map(({ beats }, i) => beats.length - before[i]!);
      expect(Math.min(...made)).toBeGreaterThanOrEqual(SECONDS / 5);
      expect(made.reduce((sum, count) => sum + count, 0) / SECONDS).toBeLessThanOrEqual(250);
      await Promise.all(all.map((each) => each.end()));
    },
  );
});
