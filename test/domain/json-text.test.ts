// What JSON.parse passes over in silence, against readings of the same text that know nothing of ours: a writer that
// doubles keys on purpose, and big integers for the digits of numbers.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonFacts, MAX_NESTING } from '../../domain/text/json-text.ts';
import { cpuMs } from '../support/cpu.ts';

const facts = (text: string) => jsonFacts(text, JSON.parse(text));

const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', '"', '\\', ':', '{', '__proto__', '\\"'));
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.constantFrom('":', '\\', '\\\\"', '{"a":1,"a":2}', null, true, 12.5, 0),
    fc.array(tie('value')),
    fc.dictionary(key, tie('value')),
  ),
})).value;

const blank = fc.constantFrom('', ' ', '\n\t', '\r\n');

describe('a key that stands twice', () => {
  test('none is found where there is none, whatever stands in texts and keys', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (json, indent) => {
        expect(facts(JSON.stringify(json, null, indent)).doubled).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  test('one that was put in is found by its name, also spelled with escapes and between blanks', () => {
    fc.assert(
      fc.property(value, value, key, blank, fc.boolean(), (before, after, name, gap, escaped) => {
        const spelled = escaped
          ? `"${[...Array(name.length).keys()].map((i) => `\\u${name.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
          : JSON.stringify(name);
        const text = `[${JSON.stringify(before)}, {${JSON.stringify(name)}${gap}:1,${gap}${spelled}: 2}, ${JSON.stringify(after)}]`;
        expect(facts(text).doubled).toBe(`[].${name}`.replaceAll('.[]', '[]'));
      }),
      { numRuns: 500 },
    );
  });
});

describe('numbers', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,40}$/);

  test('a whole number is exact where a big integer says the same', () => {
    fc.assert(
      fc.property(digits, (text) => {
        const shortest = BigInt(
          Number(text).toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 17 }),
        );
        const exact = BigInt(Number(text)) === BigInt(text) || shortest === BigInt(text);
        expect(facts(`[ ${text} ]`).inexact.size === 0).toBe(exact);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['9007199254740993', 9007199254740992],
    ['0.1000000000000000055511151231257827', 0.1],
    ['1e400', Infinity],
    ['-1e400', -Infinity],
    ['1e-400', 0],
  ])('%s loses digits', (text, kept) => {
    expect([...facts(`{"a":${text}}`).inexact]).toEqual([kept]);
  });

  test.each(['1.50', '100000000000000000000', '1e5', '1E+05', '0.00', '-0', '0.1'])('%s loses none', (text) => {
    expect(facts(`{"a":${text}}`).inexact.size).toBe(0);
  });
});

describe('keys of JSON text', () => {
  test('nesting is measured, not recursed into', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(facts(nested(MAX_NESTING)).tooDeep).toBe(false);
    expect(facts(nested(200_000)).tooDeep).toBe(true);
  });

  test('a megabyte of anything takes a moment', () => {
    const megabyte = 1 << 20;
    for (const part of ['\\\\', '\\"', ' ', '{}', '1', '1.', '"a":', 'e1']) {
      const text = JSON.stringify(part.repeat(megabyte / part.length));
      const object = `{"a":${text},"b":[${`${' '.repeat(9)}1,`.repeat(50_000)}1]}`;
      expect(cpuMs(() => facts(object))).toBeLessThan(2000);
    }
    const number = '1'.repeat(megabyte);
    expect(facts(`[${number}, 0.${number}]`).inexact.size).toBe(2);
  });
});
