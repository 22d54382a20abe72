// A policy that is paid for `right` cannot talk the judge into it, nor out of a verdict.

import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';
import { tricks } from './tricks.ts';

const all = [...tricks()].map((trick) => ({ ...trick, ...judgeMath(trick.answer, [trick.solution]) }));

/** Each form once, with what it was filled in with first and how often it got this verdict. */
function found(verdict: string): string[] {
  const forms = new Map<string, { first: string; times: number }>();
  for (const { trick, solution, answer, reason = '', ...rest } of all) {
    if (rest.verdict !== verdict) continue;
    const first = JSON.stringify([solution, answer.slice(0, 100), reason, (rest.extracted ?? '').slice(0, 50)]);
    forms.set(trick, { first, ...forms.get(trick), times: (forms.get(trick)?.times ?? 0) + 1 });
  }
  return [...forms.values()].map(({ first, times }) => `${times} × ${first}`);
}

describe('an answer that shows the true value and does not name it as its one answer', () => {
  test('is one of 500 at the least, in 300 forms', () => {
    expect(all.length).toBeGreaterThanOrEqual(500);
    expect(new Set(all.map(({ trick }) => trick)).size).toBeGreaterThanOrEqual(300);
  });

  test('is never right', () => {
    expect(found('right')).toEqual([]);
  });

  test('is wrong, not undecided', () => {
    expect(found('undecided')).toEqual([]);
  });
});
