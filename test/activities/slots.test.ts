import { describe, expect, test } from 'vitest';
import { openSlots } from '../../activities/slots.ts';

const { signal } = new AbortController();

describe('the slots of agents’ calls', () => {
  test('hold so many at once, and later turns go first, among equals those that came first', async () => {
    const inSlot = openSlots(1);
    const order: string[] = [];
    let open = () => {};
    const first = inSlot(1, signal, () => new Promise<void>((resolve) => (open = resolve)));
    const rest = ['1a', '3a', '2', '3b', '1b'].map((name) =>
      inSlot(Number(name[0]), signal, async () => void order.push(name)),
    );
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    open();
    await Promise.all([first, ...rest]);
    expect(order).toEqual(['3a', '3b', '2', '1a', '1b']);
  });

  test('are given back by work that fails, and left by a call whose activity is cancelled', async () => {
    const inSlot = openSlots(1);
    let fail: (error: Error) => void = () => {};
    const first = inSlot(1, signal, () => new Promise<void>((_resolve, reject) => (fail = reject)));
    const cancelled = new AbortController();
    const second = inSlot(2, cancelled.signal, async () => 'second');
    const third = inSlot(1, signal, async () => 'third');
    cancelled.abort(new Error('cancelled'));
    await expect(second).rejects.toThrow('cancelled');
    fail(new Error('broken'));
    await expect(first).rejects.toThrow('broken');
    expect(await third).toBe('third');
  });
});
