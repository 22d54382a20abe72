// Text from outside cannot steer what shows it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstWords, headAndTail, oneLine, short, terminalJson, visible } from '../../domain/text/foreign-text.ts';

/** Written again, and not imported: what a terminal or a reader's eye follows. */
const steers = (code: number): boolean =>
  (code < 0x20 && code !== 9 && code !== 10) ||
  (code >= 0x7f && code < 0xa0) ||
  code === 0x061c ||
  code === 0x200e ||
  code === 0x200f ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);
const EVERY = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
const foreign = fc.string({ unit: 'binary', maxLength: 300 });
const codes = (text: string): number[] => [...text].map((char) => char.codePointAt(0)!);

describe('foreign text', () => {
  test.each([
    ['visible', visible],
    ['oneLine', oneLine],
    ['short', (text: string) => short(text, 100)],
    ['firstWords', (text: string) => firstWords(text, 100)],
    ['terminalJson', terminalJson],
  ])('holds no steering character after %s', (_, show) => {
    const left = EVERY.filter((code) => codes(show(`a${String.fromCharCode(code)}b`)).some(steers));
    expect(left).toEqual([]);
  });

  test('stays on one line, and within its length', () => {
    fc.assert(
      fc.property(foreign, fc.integer({ min: 2, max: 80 }), (text, most) => {
        for (const shown of [short(text, most), firstWords(text, most)]) {
          expect(shown).not.toMatch(/[\n\r\t]/);
          expect([...shown].length).toBeLessThanOrEqual(most);
        }
        expect(oneLine(text)).not.toMatch(/[\n\r\t]/);
      }),
    );
  });

  test('keeps no secret, also one that would be cut', () => {
    const secret = 'sk-0123456789';
    for (let at = 0; at < 30; at++) expect(short(`${'x'.repeat(at)}${secret}`, 20, secret)).not.toContain('sk-0');
  });

  test('is the same value when its JSON is parsed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(terminalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

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
