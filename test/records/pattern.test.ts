// A pattern finds what JavaScript's own matching finds, and no pattern holds the search up.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../domain/errors/errors.ts';
import { patternFinder } from '../../records/reading/pattern.ts';

describe('a pattern', () => {
  test.each([
    ['= -?[0-9]+$', 'x = -12\nso 7', '= -12', 1],
    ['\\p{L}+ß', 'heiß und weiß', 'heiß', 2],
    ['^so', 'x\nso', 'so', 1],
    ['\\\\boxed\\{(\\d+)\\}', 'a \\boxed{7}', '\\boxed{7}', 1],
  ])('%s is found in %j', (pattern, text, found, count) => {
    expect(patternFinder(pattern, true)(text)).toMatchObject({ found, count });
  });

  test('finds what matchAll finds, without empty matches', () => {
    const part = fc.constantFrom('a', 'b', '.', 'a*', '(ab)?', '[bc]+', 'c{2}', '$', '^', '|');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.stringMatching(/^[abc\n]{0,30}$/), (parts, text) => {
        const pattern = parts.join('');
        const all = [...text.matchAll(new RegExp(pattern, 'gimu'))].filter(([found]) => found !== '');
        const found = patternFinder(pattern, false)(text);
        expect(found?.count ?? 0).toBe(all.length);
        if (found) expect(found.found).toBe(all[0]![0]);
      }),
      { numRuns: 150 },
    );
  });

  test('is refused if it takes too long, within its limit', () => {
    const text = `${'a'.repeat(60)}!`;
    for (const pattern of ['(a+)+$', '(a|aa)+$', '(.*a){25}$', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
      const begun = performance.now();
      expect(() => patternFinder(pattern, true, 200)(text)).toThrow(UsageError);
      expect(performance.now() - begun).toBeLessThan(20_000);
    }
  });

  test.each(['(', '[z-a]', 'a{2,1}', '\\p{Nope}', '(?<x', 'a'.repeat(1_001), '(?:(?:a{0,1000}){0,1000}){0,1000}b'])(
    '%s is an error of the user or finds nothing, in bounded time',
    (pattern) => {
      try {
        expect(patternFinder(pattern, false, 500)('aaaa')).toBeUndefined();
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    },
  );
});
