// A body that is no JSON is named by what it is: by the spelling that JSON does not have, at any place in it.

import { describe, expect, test } from 'vitest';
import type { ModelError } from '../../domain/errors/errors.ts';
import { parseJson } from '../../inference/http/reply-json.ts';
import { cpuMs } from '../support/cpu.ts';

const place = { url: 'http://a', path: '/generate', secret: null };
const flawOf = (body: string | Buffer): string | undefined => {
  const bytes = Buffer.from(body as string);
  try {
    parseJson(bytes, bytes.toString(), place);
    return undefined;
  } catch (error) {
    return (error as ModelError).flaw;
  }
};

const WHOLE = { text: 'NaN, None, // and a \\" quote\'s "', list: [1.5, -2, null], deep: { a: [true, false] } };
/** The JSON of WHOLE with its `at`-th number written as `spelling`. */
function* withNumbers(spelling: string): Generator<string> {
  const text = JSON.stringify(WHOLE);
  for (const number of ['1.5', '-2', 'null', 'true']) yield text.replace(number, spelling);
}

describe('a body that is no JSON', () => {
  test.each(['NaN', '-NaN', 'Infinity', '-Infinity', 'nan', '+Infinity'])('is named by its %s', (spelling) => {
    for (const body of withNumbers(spelling)) expect(flawOf(body), body).toBe('JSON with NaN or Infinity');
    expect(flawOf(spelling)).toMatch(/NaN or Infinity|plain text/);
  });

  test.each([
    ['None', 'JSON with a literal of another language'],
    ['True', 'JSON with a literal of another language'],
    ['undefined', 'JSON with a literal of another language'],
    ['1,,2', 'JSON with a comma too many'],
    ['1 /* one */', 'JSON with comments'],
    ["'1'", 'JSON with single quotes'],
    ['.5', 'malformed JSON'],
    ['0x10', 'malformed JSON'],
    ['1 2', 'malformed JSON'],
  ])('is named by its %s', (spelling, flaw) => {
    for (const body of withNumbers(spelling)) expect(flawOf(body), body).toBe(flaw);
  });

  test('is named by what stands before and behind it', () => {
    const text = JSON.stringify(WHOLE);
    expect(flawOf(`\uFEFF${text}`)).toBe('JSON behind a byte order mark');
    expect(flawOf(`${text}garbage`)).toBe('JSON with more behind it');
    expect(flawOf(Buffer.from(text, 'utf16le'))).toBe('a text with zero bytes (UTF-16?)');
    expect(flawOf(`// all well\n${text}`)).toBe('JSON with comments');
    expect(flawOf('upstream connect error')).toBe('plain text');
    expect(flawOf('<html>')).toBe('HTML');
    expect(flawOf(`data: ${text}`)).toBe('an event stream');
    for (let end = 1; end < text.length; end++) expect(flawOf(text.slice(0, end)), text.slice(0, end)).toBeTruthy();
  });

  test('is none where such words stand in texts alone', () => {
    expect(flawOf(JSON.stringify(WHOLE))).toBeUndefined();
  });

  test('is named in bounded time, whatever it holds', () => {
    for (const part of ['"', '\\', '"\\"', ', ', '/', "'", '{"a":']) {
      const body = `[${part.repeat(2 ** 20)}`;
      expect(
        cpuMs(() => expect(flawOf(body), part).toBeTruthy()),
        part,
      ).toBeLessThan(2000);
    }
  });
});
