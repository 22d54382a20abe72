// A slice of the differential test, recorded with the verdicts of its independent evaluators (test/judge): each kind of
// pair the generator draws, equal and not. `npm run test:judge` draws new ones.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

interface Recorded {
  readonly seed: number;
  readonly kind: string;
  readonly gold: string;
  readonly answer: string;
  readonly word: 'equal' | 'different';
}

const pairs = readFileSync(new URL('../real/judge/recorded.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded);

describe('a pair that independent evaluators have judged', () => {
  test.each([...new Set(pairs.map(({ kind }) => kind))].toSorted())('has their verdict: %s', (kind) => {
    const own = pairs.filter((pair) => pair.kind === kind);
    expect(new Set(own.map(({ word }) => word))).toEqual(new Set(['equal', 'different']));
    for (const { seed, gold, answer, word } of own) {
      const { verdict } = judgeMath(`\\boxed{${answer}}`, [gold]);
      expect(verdict, `seed ${seed}: ${gold} | ${answer}`).toBe(word === 'equal' ? 'right' : 'wrong');
    }
  });
});
