// What does not change a value does not change its verdict, and what changes it does: seeded, 4,200 answers, or as many
// values as EVERTURN_METAMORPHIC asks for, seven answers each (EVERTURN_SEED for other ones).

import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';
import { seeded } from './generate-pairs.ts';
import { metamorphic } from './metamorphic.ts';

const seed = Number(process.env['EVERTURN_SEED'] ?? 20_261_122);
const values = Number(process.env['EVERTURN_METAMORPHIC'] ?? 600);

/** The answers with another verdict than expected: how many of how many, and the first fifty. */
function otherwise(expected: 'right' | 'wrong'): { readonly missed: number; readonly shown: readonly string[] } {
  const missed: string[] = [];
  for (const { kind, solution, answer, ...pair } of metamorphic(seeded(seed), values)) {
    if (pair.expected !== expected) continue;
    const { verdict, reason } = judgeMath(answer, [solution]);
    if (verdict !== expected) missed.push(`${kind}: ${JSON.stringify([solution, answer, verdict, reason])}`);
  }
  return { missed: missed.length, shown: missed.slice(0, 50) };
}

describe(`the verdict on an answer (seed ${seed})`, () => {
  test('stays right in another dress, order or spelling', () => {
    expect(otherwise('right')).toEqual({ missed: 0, shown: [] });
  });

  test('becomes wrong with a sign, a digit, an item, a bound, a unit, a letter or an alternative', () => {
    expect(otherwise('wrong')).toEqual({ missed: 0, shown: [] });
  });
});
