import { afterEach, describe, expect, test, vi } from 'vitest';
import { openSharedResources } from '../../../local/machine/shared-resources.ts';

afterEach(() => void vi.useRealTimers());

describe('what runs hold in common', () => {
  test('is closed after its last run, though another one cannot be closed', async () => {
    vi.useFakeTimers();
    const closed: string[] = [];
    const held = openSharedResources<string>({
      hasEnded: async () => true,
      isUsed: () => false,
      close: (it) => {
        if (it === 'broken') throw new Error('does not end');
        closed.push(it);
      },
    });
    held.of('1', '/runs/a', () => 'broken');
    held.of('2', '/runs/a', () => 'whole');
    await vi.advanceTimersByTimeAsync(4_000);
    expect(closed).toEqual([]);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(closed).toEqual(['whole']);
    held.of('3', '/runs/b', () => 'later');
    await vi.advanceTimersByTimeAsync(8_000);
    expect(closed).toEqual(['whole', 'later']);
    await held.close();
  });
});
