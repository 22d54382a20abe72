import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../domain/text/sha256.ts';
import { ANY_CHAR } from './some.ts';

const byNode = (text: string) => createHash('sha256').update(text).digest('hex');

describe('sha256', () => {
  test('the digest of any well-formed text is the one that Node computes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: fc.constantFrom('a', 'é', 'e\u0301', '漢', '😀', '👩‍👩‍👧', '\n', '\u0000') }),
          fc.string({ unit: ANY_CHAR, maxLength: 300 }),
        ),
        (text) => {
          fc.pre(Buffer.from(text).toString() === text); // no lone surrogates
          expect(sha256Hex(text)).toBe(byNode(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('the digest is right at every length around the block borders', () => {
    for (let length = 0; length <= 200; length++) {
      const text = 'é'.repeat(length % 3) + 'x'.repeat(length);
      expect(sha256Hex(text)).toBe(byNode(text));
    }
    expect(sha256Hex('a'.repeat(1_000_000))).toBe(byNode('a'.repeat(1_000_000)));
  });

  test('broken texts do not share a digest, as they do where lone surrogates become U+FFFD', () => {
    const broken = ['\ud800', '\udbff', '\udc00', '\ufffd', '\ud800\ud800', 'a\ud800', '\udc00\ud800'];
    expect(new Set(broken.map(byNode)).size).toBeLessThan(broken.length);
    expect(new Set(broken.map(sha256Hex)).size).toBe(broken.length);
  });
});
