import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../records/format/text.ts';
import { turnRecord } from './play.ts';

const owner = { query: 'q/1', sample: 0, attempt: 1 };
const record = { ...turnRecord(1, 'What is ∞ + 1?\n\u0000\ufffd'), answer: '"sha256":"x"}\n' };

describe('the text of a record', () => {
  test('the hash is the SHA-256 of all but the last 78 bytes: any tool can prove it', () => {
    const { text, hash } = encodeRecord('turn', owner, record);
    const bytes = Buffer.from(text);
    expect(createHash('sha256').update(bytes.subarray(0, -78)).digest('hex')).toBe(hash);
    expect(JSON.parse(text)).toMatchObject({ format: 'everturn-turn/1', of_rollout: owner, turn: 1, sha256: hash });
    expect(text.split('\n')).toHaveLength(2);
  });

  test('the record that goes with a text is what is read back from it', () => {
    const odd = fc.constantFrom(-0, undefined, '\ud800', '__proto__', 5e-324);
    const json = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, odd, fc.jsonValue(), fc.array(tie('any')), fc.dictionary(fc.string(), tie('any'))),
    })).any;
    fc.assert(
      fc.property(json, fc.boolean(), (field, own) => {
        const [kind, of] = own ? (['turn', owner] as const) : (['run', null] as const);
        const made = encodeRecord(kind, of, { ...turnRecord(1, 'What?'), field, ['__proto__x']: field });
        expect(decodeRecord(kind, of, made.text)).toStrictEqual({ hash: made.hash, record: made.record });
      }),
    );
  });

  test('a record cut at any byte is torn, empty or changed, and never taken for whole', () => {
    const bytes = Buffer.from(encodeRecord('turn', owner, record).text);
    for (let length = 0; length < bytes.length; length++) {
      const decoded = decodeRecord('turn', owner, bytes.toString('utf8', 0, length));
      expect(decoded, `at ${length}`).toHaveProperty('problem', expect.stringMatching(/torn|empty|changed/));
    }
  });

  test('a record with any one bit flipped is never taken for sound', () => {
    const bytes = Buffer.from(encodeRecord('turn', owner, record).text);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (at, bit) => {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 1 << bit;
        expect(decodeRecord('turn', owner, flipped.toString('utf8'))).toHaveProperty('problem');
      }),
      { numRuns: 2000 },
    );
  });

  test('a record of another kind or another rollout is told so', () => {
    const { text } = encodeRecord('turn', owner, record);
    expect(decodeRecord('verdict', owner, text)).toHaveProperty(
      'problem',
      expect.stringContaining('has format "everturn-turn/1"'),
    );
    expect(decodeRecord('turn', { ...owner, sample: 1 }, text)).toHaveProperty(
      'problem',
      expect.stringContaining('another rollout'),
    );
  });
});
