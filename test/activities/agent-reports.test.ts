import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openReports } from '../../activities/agent-reports.ts';
import type { CallCounts } from '../../domain/rollout/rollout-facts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the reports of an agent’s calls', () => {
  test('tell many calls together, the last counts always, and the more seldom the longer it runs', () => {
    const told: CallCounts[] = [];
    const reports = openReports(async (counts) => void told.push(counts), Date.now);
    const HOURS = 10;
    for (let calls = 1; calls <= HOURS * 3600; calls++) {
      const end = reports.begin();
      vi.advanceTimersByTime(1000);
      end({ calls, branches: 1 });
    }
    vi.advanceTimersByTime(3_600_000);
    expect(told.at(-1)).toEqual({ calls: HOURS * 3600, branches: 1, waiting: 0 });
    expect(told[0]).toEqual({ calls: 0, branches: 0, waiting: 1 });
    // 50 s of one a second, and fifty for each factor e of time behind them.
    expect(told.length).toBeLessThan(50 + 50 * Math.log((HOURS * 3600) / 50) + 20);
    expect(told.length).toBeGreaterThan(100);
  });

  test('go on where one is lost, repeat nothing, and end with the agent', async () => {
    const told: CallCounts[] = [];
    const reports = openReports(async (counts) => {
      told.push(counts);
      throw new Error('the server is away');
    }, Date.now);
    reports.begin()({ calls: 1, branches: 1 });
    await vi.advanceTimersByTimeAsync(1000);
    reports.begin()({ calls: 1, branches: 1 });
    await vi.advanceTimersByTimeAsync(1000);
    reports.begin()({ calls: 2, branches: 1 });
    reports.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual([{ calls: 1, branches: 1, waiting: 0 }]);
  });
});
