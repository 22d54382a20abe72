import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { versionNumber } from '../../domain/weights/weight-version.ts';

describe('a weight version', () => {
  test.each([
    ['default', 0],
    ['', 0],
    [null, 0],
    [undefined, 0],
    ['0', 0],
    ['12', 12],
    [' 7 ', 7],
    [3, 3],
    ['v3', 3],
    ['step-12', 12],
    ['step 12', 12],
    ['global_step_40', 40],
    ['actor_v2/global_step_40', 40],
    ['checkpoint-000120', 120],
    ['2147483647', 2147483647],
  ])('reads the version %j as %i', (word, number) => {
    expect(versionNumber(word)).toBe(number);
  });

  test.each([
    ...['step-abort', '1.5', '2026-11-21', '3f2a9c17', 'v', 'm1-b2', '2147483648', 'v99999999999999999999', '-1'],
    ...[-5, 1.5, 1e21, 'v1.5', 'v.5', 'step.5', 'step -5', 'step--5', 'step_-5', 'step/-5', 'step:1.5', 'v+5'],
  ])('gives %j a number of its own, far from any count', (word) => {
    expect(versionNumber(word)).toBeGreaterThanOrEqual(2 ** 30);
    expect(versionNumber(word)).toBe(versionNumber(word));
  });

  test('any word is an int32, the same each time', () => {
    fc.assert(
      fc.property(fc.string(), (word) => {
        const number = versionNumber(word);
        expect(Number.isInteger(number) && number >= 0 && number < 2 ** 31).toBe(true);
        expect(versionNumber(word)).toBe(number);
      }),
    );
  });
});
