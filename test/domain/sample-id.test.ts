import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleId } from '../../domain/samples/neutral-row.ts';
import { parseSampleId } from '../support/sample-name.ts';

/** Texts that are near to an escape or to another id's sample, and any others. */
const query = fc.oneof(
  fc.string({
    unit: fc.constantFrom('@', '%', '4', '0', '2', '5', '1', 'x', 'X', '\u00e9', 'e\u0301', '\n', '\ud800'),
  }),
  fc.string({ unit: 'binary' }),
);
const sample = fc.oneof(fc.nat(20), fc.nat());

describe('the id of a sample', () => {
  test('names one query and one sample: it reads back as what it was made of', () => {
    const property = fc.property(query, sample, (q, s) => {
      expect(parseSampleId(sampleId(q, s))).toEqual({ query: q, sample: s });
    });
    fc.assert(property, {
      numRuns: 1_000,
      examples: ['%25', '%2540', 'x@1', '%'].map((q) => [q, 1] as [string, number]),
    });
  });

  test('is the query’s own, byte for byte, where that holds neither @ nor what looks escaped', () => {
    for (const id of ['p1', '50%', 'a%20b', '%4', 'three/3', '\u00e9', 'e\u0301', ' x ', '']) {
      expect(sampleId(id, 0)).toBe(id);
      expect(sampleId(id, 3)).toBe(`${id}@3`);
    }
  });

  test('names the row before its first @, also where the query holds one', () => {
    expect(sampleId('x@1', 0)).toBe('x%401');
    expect(sampleId('x@1', 2)).toBe('x%401@2');
    expect(sampleId('x', 1)).toBe('x@1');
    expect(sampleId('x%401', 0)).toBe('x%25401');
  });
});
