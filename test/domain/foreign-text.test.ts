// Text from outside cannot steer what shows it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeMarkdown, firstWords, oneLine, short, terminalJson, visible } from '../../domain/text/foreign-text.ts';

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

  test('is no markup in Markdown', () => {
    expect(escapeMarkdown('<b>|a|\n# [x](y)</b>')).toBe('&lt;b&gt;\\|a\\| \\# \\[x\\]\\(y\\)&lt;/b&gt;');
  });
});
