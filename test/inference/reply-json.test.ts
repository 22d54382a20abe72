// A body that is no JSON is named by what it is, and shown where it is none.

import { describe, expect, test } from 'vitest';
import type { ModelError } from '../../domain/errors/errors.ts';
import { parseReplyJson } from '../../inference/http/reply-json.ts';

const place = { url: 'http://a', path: '/generate', secret: null };
function errorOf(body: string | Buffer): ModelError | undefined {
  const bytes = Buffer.from(body as string);
  try {
    parseReplyJson(bytes, bytes.toString(), place);
    return undefined;
  } catch (error) {
    return error as ModelError;
  }
}
const flawOf = (body: string | Buffer) => errorOf(body)?.flaw;

const WHOLE = { text: 'NaN, None, // and a \\" quote\'s "', list: [1.5, -2, null], deep: { a: [true, false] } };
const TEXT = JSON.stringify(WHOLE);

describe('a body that is no JSON', () => {
  test.each(['NaN', '-Infinity', 'None', 'True', '1,,2', '1 /* one */', "'1'", '.5', '0x10', '1 2'])(
    'is shown where it is none, at its %s',
    (spelling) => {
      for (const number of ['1.5', '-2', 'null', 'true']) {
        const error = errorOf(TEXT.replace(number, spelling))!;
        expect(error.flaw).toBe('malformed JSON');
        expect(error.message).toMatch(/Unexpected|Expected|No number after minus sign/);
      }
    },
  );

  test('is named by what stands before and behind it', () => {
    for (const odd of [`${TEXT}garbage}`, Buffer.from(TEXT, 'utf16le')])
      expect(flawOf(odd)).toMatch(/malformed JSON|JSON that was cut/);
    expect(flawOf('upstream connect error')).toBe('plain text');
    expect(flawOf('<html>')).toBe('HTML');
    expect(flawOf(`data: ${TEXT}`)).toBe('an event stream');
    for (let end = 1; end < TEXT.length; end++) expect(flawOf(TEXT.slice(0, end)), TEXT.slice(0, end)).toBeTruthy();
  });
});
