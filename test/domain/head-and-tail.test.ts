// The kept text of an error has its first line, which names the place, and its last ones, which say what it is.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headAndTail } from '../../domain/text/foreign-text.ts';

const traceback = [
  'The environment judge.py failed in `respond`: ',
  ...Array.from({ length: 60 }, (_, i) => `  File "judge.py", line ${i}, in reward`),
  'ValueError: could not convert string to float: "x"',
].join('\n');

describe('the kept text of an error', () => {
  test('has the first line and the last ones, and counts those between them', () => {
    const kept = headAndTail(traceback, 300);
    expect(kept.split('\n')[0]).toBe('The environment judge.py failed in `respond`: ');
    expect(kept).toMatch(/\n… \(\d+ lines\) …\n {2}File "judge.py", line 5\d,/);
    expect(kept.endsWith('ValueError: could not convert string to float: "x"')).toBe(true);
  });

  test.each([
    ['a short text, as it is', 'a\nb', 10, 'a\nb'],
    ['one line, cut at its end', 'abcdef', 4, 'abc…'],
  ])('is %s', (_, text, most, kept) => expect(headAndTail(text, most)).toBe(kept));

  test('is no longer than it may be, and ends as the whole does', () => {
    const texts = fc.array(fc.string({ minLength: 1, maxLength: 200 }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 80, max: 1000 }), (lines, most) => {
        const text = lines.join('\n');
        const kept = headAndTail(text, most);
        expect(kept.length).toBeLessThanOrEqual(most);
        expect(kept.slice(-5)).toBe(text.slice(-5));
      }),
    );
  });
});
