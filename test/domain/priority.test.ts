import { describe, expect, test } from 'vitest';
import { isRunName } from '../../domain/names/ids.ts';
import { runPriority, turnPriority } from '../../domain/names/queues.ts';

describe('the priority of a turn', () => {
  test('is higher for each later turn, within the five levels of every server', () => {
    const keys = Array.from({ length: 100 }, (_, i) => turnPriority('r', i + 1).priorityKey!);
    expect(keys.slice(0, 6)).toEqual([5, 4, 3, 2, 1, 1]);
    expect(keys.every((key, i) => key >= 1 && key <= 5 && (i === 0 || key <= keys[i - 1]!))).toBe(true);
  });

  test('has a fairness key that no other run has, of at most 64 bytes', () => {
    const long = 'r'.repeat(99);
    const names = ['r', 'R', 'r'.repeat(64), 'r'.repeat(65), `${long}1`, `${long}2`];
    const keys = names.map((name) => runPriority(name).fairnessKey);
    expect(names.every(isRunName)).toBe(true);
    expect(new Set(keys).size).toBe(names.length);
    expect(Math.max(...keys.map((key) => Buffer.byteLength(key)))).toBeLessThanOrEqual(64);
  });
});
