import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fallingVersions, isBeyond, isOlder, olderAmong, versionNumber } from '../../domain/weights/weight-version.ts';

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

  test.each([
    [1, 4, 6, true],
    [2, 4, 6, false],
    [0, 6, 6, false],
    [0, 7, 6, false],
    [9, versionNumber('a word'), 6, true],
    [9, 6, versionNumber('a word'), true],
    [0, versionNumber('a word'), versionNumber('a word'), false],
  ])('with a gap of %i, tokens of version %i are too old for %i: %s', (gap, version, into, beyond) => {
    expect(isBeyond(gap, version, into)).toBe(beyond);
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

  test.each([
    ['step-5', 'step-4', true],
    ['step-5', 'default', true],
    ['step-5', 'step-6', false],
    ['step-5', 'a word', false],
    ['a word', 'step-5', false],
    ['line0:v5', 'line0:v4', true],
    ['line0:v5', 'line1:v3', false],
    ['r1:v5', 'r2:v3', false],
    ['5', 'r1:v3', false],
    ['r1:v3', '5', true],
  ])('%s and then %s is a step back: %s', (before, now, isBack) => {
    const [one, other] = [before, now].map((versionLabel) => ({ version: versionNumber(versionLabel), versionLabel }));
    expect(isOlder(other!, one!)).toBe(isBack);
    const spans = [one!, other!].map((span, i) => ({ ...span, start: i, end: i + 1 }));
    expect(fallingVersions(spans)).toBe(isBack ? `${before}, ${now}` : null);
  });

  test.each([
    ['line1:v2', 'step-29', false],
    ['step-29', 'step-5', false],
    ['step-5', 'step-29', true],
    ['step-29', 'default', true],
    ['step-29', '30', false],
  ])('of a run that declared step-29, then step-5, %s and then %s is a step back: %s', (before, now, isBack) => {
    const isOlderHere = olderAmong([{ label: 'step-29' }, { label: 'step-5' }]);
    const [one, other] = [before, now].map((versionLabel) => ({ version: versionNumber(versionLabel), versionLabel }));
    expect(isOlderHere(other!, one!)).toBe(isBack);
  });
});
