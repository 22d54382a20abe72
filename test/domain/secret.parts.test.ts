// A key in an answer is found however JSON spells it, and a word that stands there by chance is none.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsSecret, withoutSecret } from '../../domain/text/secret.ts';
import { openHttp } from '../../inference/http/http.ts';
import { cpuMs } from '../support/cpu.ts';
import { listenHttp } from '../support/http-listener.ts';

const KEY = 'sk-a+b/c"d\\e(f)9';

describe('a key', () => {
  test('is found and taken out in every spelling that JSON has for it', () => {
    const key = fc.string({ unit: fc.constantFrom(...'aB9+/-_."\\(){}[]|$^*?'), minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(key, fc.infiniteStream(fc.nat(2)), fc.nat(1), (tail, ways, twice) => {
        const secret = `sk-${tail}`;
        const spelled = Array.from(secret, (char) => {
          const code = char.charCodeAt(0).toString(16).padStart(4, '0');
          const way = ways.next().value as number;
          if (way === 1) return `\\u${code}`;
          if (way === 2) return `\\u${code.toUpperCase()}`;
          return /["\\]/.test(char) ? `\\${char}` : char === '/' && tail.length % 2 ? '\\/' : char;
        }).join('');
        const json = `{"text":"before ${spelled} behind"}`;
        expect(JSON.parse(json)).toEqual({ text: `before ${secret} behind` });
        const text = twice ? JSON.stringify({ inner: json }) : json;
        expect(holdsSecret(text, secret)).toBe(true);
        expect(withoutSecret(text, secret)).not.toContain(spelled);
        expect(withoutSecret(json, secret)).toBe('{"text":"before [key] behind"}');
      }),
      { numRuns: process.env['EVERTURN_TESTS'] === 'all' ? 500 : 100 },
    );
  });

  describe.each([24, 51, 164])('of %i characters', (length) => {
    const key =
      `sk-ant-api03-${fc.sample(fc.base64String({ minLength: 800, maxLength: 800 }), { numRuns: 1, seed: length })[0]}`
        .slice(0, length - 2)
        .concat('+/');
    const bytes = (text: string) => Buffer.from(text);
    const eachChar = (how: (code: number) => string) => (text: string) =>
      Array.from(text, (c) => how(c.charCodeAt(0))).join('');
    const percent = (code: number) => `%${code.toString(16).padStart(2, '0')}`;
    const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
      base64: (text) => bytes(text).toString('base64'),
      'base64 behind one byte': (text) => bytes(`:${text}`).toString('base64'),
      'base64 behind two bytes': (text) => bytes(`u:${text}:x`).toString('base64'),
      'base64 of urls': (text) => bytes(`Bearer ${text}`).toString('base64url'),
      'base64 in a url': (text) => encodeURIComponent(bytes(text).toString('base64')),
      hex: (text) => bytes(text).toString('hex'),
      'upper hex': (text) => bytes(text).toString('hex').toUpperCase(),
      percent: encodeURIComponent,
      'percent for all': eachChar(percent),
      'percent twice': (text) => encodeURIComponent(encodeURIComponent(text)),
      entities: eachChar((code) => `&#${code};`),
      'entities in hex': eachChar((code) => `&#x${code.toString(16).toUpperCase()};`),
    };

    test.each(Object.entries(ENCODINGS))('is found and taken out as %s', (_, encode) => {
      const text = JSON.stringify({ text: `before ${encode(key)} behind` });
      expect(holdsSecret(text, key)).toBe(true);
      const clean = withoutSecret(text, key);
      expect(clean).toMatch(/^\{"text":"before \S*\[key\]\S* behind"\}$/);
      expect(clean.length).toBeLessThan(50);
    });

    test('is found and taken out without its first, its last or, if it is long, any other character', () => {
      for (const at of length < 32 ? [0, length - 1] : Array(length).keys()) {
        const text = JSON.stringify({ text: `before ${key.slice(0, at)} ${key.slice(at + 1)} behind` });
        expect(holdsSecret(text, key), `without character ${at}`).toBe(true);
        expect(withoutSecret(text, key)).toContain('[key]');
      }
    });

    test('is not found by how all keys of a provider begin', () => {
      expect(holdsSecret('It begins with sk-ant-api03-, and is long.', key)).toBe(false);
    });
  });

  test.each(['hunter22', 'token-1', 'sk-x', 'Passw0rd', 'abcdefghijklmnop', KEY])('is recognised: %s', (key) => {
    expect(holdsSecret(JSON.stringify({ text: `it is ${key}.` }), key)).toBe(true);
  });

  test.each(['EMPTY', 'none', 'anything', 'PASSWORD', 'x', 'x1', ''])(
    'is not, where it may be a word of the answer: %s',
    (key) => {
      const text = JSON.stringify({ text: `it is ${key}.` });
      expect(holdsSecret(text, key)).toBe(false);
      expect(withoutSecret(text, key)).toBe(text);
    },
  );

  test('is no answer of a model server, however it is spelled there', async () => {
    const text = JSON.stringify({ text: 'it is sk-ab+cd/1.' });
    const spellings = [text, text.replace('+', '\\u002B'), text.replace('/', '\\/'), text.replace('s', '\\u0073')];
    const server = await listenHttp((request, response) => response.end(spellings[Number(request.url!.slice(1))]));
    const http = openHttp({ url: server.url, apiKey: 'sk-ab+cd/1' });
    for (const n of spellings.keys())
      await expect(http.get(`/${n}`)).rejects.toMatchObject({ reason: 'reply-tells-key', retryable: false });
    await http.close();
    server.close();
  });

  test('is searched for in bounded time', () => {
    for (const part of ['\\', 's', '\\u0073', 'sk-', '\\\\u0073k'])
      expect(cpuMs(() => holdsSecret(part.repeat(2 ** 20), KEY))).toBeLessThan(2000);
  });
});
