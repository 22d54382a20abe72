import { describe, expect, test } from 'vitest';
import { philox, uniformAt, type Words4 } from '../../inference/decode/philox.ts';

const hex = (words: Words4) => words.map((word) => word.toString(16).padStart(8, '0')).join(' ');

describe('the Philox generator', () => {
  test('gives the published known answers of Philox4x32-10', () => {
    expect(hex(philox([0, 0, 0, 0], [0, 0]))).toBe('6627e8d5 e169c58d bc57ac4c 9b00dbd8');
    const ones = 0xffffffff;
    expect(hex(philox([ones, ones, ones, ones], [ones, ones]))).toBe('408f276d 41c83b0e a20bc7c6 6d5451fd');
    expect(hex(philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]))).toBe(
      'd16cfe09 94fdcceb 5001e420 24126ea1',
    );
  });

  test('draws evenly from [0, 1), for large seeds too, and differently for seeds that differ in one bit', () => {
    for (const seed of [0, 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) {
      const draws = Array.from({ length: 20_000 }, (_, place) => uniformAt(seed, place));
      expect(Math.min(...draws)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...draws)).toBeLessThan(1);
      const mean = draws.reduce((sum, u) => sum + u) / draws.length;
      expect(Math.abs(mean - 0.5)).toBeLessThan(0.01); // 5 standard errors
    }
    expect(uniformAt(5, 0)).not.toBe(uniformAt(5 + 2 ** 32, 0));
    expect(uniformAt(5, 0)).not.toBe(uniformAt(4, 0));
  });
});
