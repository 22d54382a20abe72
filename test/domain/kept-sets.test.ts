import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  boundedSet,
  isBiased,
  type KeptSet,
  MOST_KEPT,
  mustGiveSets,
  packedKept,
  unpackedKept,
} from '../../domain/rollout/kept-sets.ts';

const ids = fc.uniqueArray(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 40 }).map((some) => boundedSet(some));
const sets: fc.Arbitrary<KeptSet[]> = fc.array(fc.option(ids), { maxLength: 60 });

describe('kept sets as a text', () => {
  test('are read as they were written, a set that is not kept as null', () => {
    fc.assert(
      fc.property(sets, (some) => {
        expect(unpackedKept(packedKept(some))).toEqual(some);
      }),
    );
    const largest = Array.from({ length: MOST_KEPT }, (_, i) => 3 * i);
    expect(unpackedKept(packedKept([largest]))).toEqual([largest]);
    expect(boundedSet([...largest, 9999])).toBeNull();
  });

  test('one behind the other are those of both', () => {
    const bytes = (some: KeptSet[]) => Buffer.from(packedKept(some), 'base64');
    fc.assert(
      fc.property(sets, sets, (one, other) => {
        const both = Buffer.concat([bytes(one), bytes(other)]).toString('base64');
        expect(both).toBe(packedKept([...one, ...other]));
      }),
    );
  });

  test('that are cut off, too large or no text of theirs are refused', () => {
    const whole = Buffer.from(packedKept([[1, 500], [7]]), 'base64');
    expect(unpackedKept(whole.subarray(0, 2).toString('base64'))).toBeNull();
    expect(unpackedKept(Buffer.of(0x81, 0x04, ...Array(513).fill(0)).toString('base64'))).toBeNull();
    expect(unpackedKept(Buffer.of(1, 255, 255, 255, 255, 255).toString('base64'))).toBeNull();
    for (const text of ['AA', '*AAA', 'AAA=A']) expect(unpackedKept(text)).toBeNull();
  });
});

describe('a trainer on truncated sampling', () => {
  const cut = { temperature: 1, topP: 0.9, topK: 1e8 };
  const server = { kind: 'tokens', name: 'some model', vocabSize: 1000 } as const;

  test('is refused where the model does not say what tokens were drawn from', () => {
    for (const settings of [cut, { ...cut, topP: 1, topK: 50 }, { ...cut, topP: 1, minP: 0.1 }])
      expect(() => mustGiveSets(server, settings)).toThrow(/some model does not say which tokens .* is biased/);
  });

  test('is allowed where it says so, where nothing is left out, and where bias is asked for', () => {
    mustGiveSets({ ...server, givesKept: true }, cut);
    mustGiveSets({ kind: 'text', name: 'text' }, cut);
    for (const settings of [
      { ...cut, topP: 1 },
      { ...cut, temperature: 0 },
      { ...cut, topP: 1, topK: 1000 },
      { ...cut, allowBiasedLogprobs: true },
    ])
      mustGiveSets(server, settings);
    expect(isBiased({ ...cut, allowBiasedLogprobs: true })).toBe(true);
    expect(isBiased({ ...cut, topP: 1, allowBiasedLogprobs: true })).toBe(false);
    expect(isBiased(cut)).toBe(false);
  });
});
