// What no list foresees: seeded rewrites and near misses, and attacks of every construct that the judge reads.

import { describe, expect, test } from 'vitest';
import { createMathJudge } from '../../environments/math-environment.ts';
import { leafOptions } from '../../environments/math/judge-options.ts';
import { compareTexts } from '../../environments/math/compare/compare-texts.ts';
import { judgeMath } from '../../environments/math/judge.ts';
import { compiledRoom } from '../support/compiled.ts';
import { generatePairs, seeded } from './generate-pairs.ts';
import { HOSTILE } from './hostile.ts';

const SEED = 20_260_901;
const pairs = [...generatePairs(SEED, 600)];

describe('the judge of generated pairs', () => {
  test(`an answer in another form is right, and a near miss never is (seed ${SEED})`, () => {
    for (const { solution, equal, near } of pairs) {
      expect(judgeMath(`\\boxed{${equal}}`, [solution]).verdict, `${solution} | ${equal}`).toBe('right');
      expect(judgeMath(`\\boxed{${near}}`, [solution]).verdict, `${solution} | ${near}`).not.toBe('right');
    }
  });

  test('the same pair gets the same verdict and reason in any process, in any order', async () => {
    const judge = createMathJudge({ entry: `${compiledRoom('environments')}/math/pool/child.js` });
    const jobs = pairs.slice(0, 200).flatMap(({ solution, equal, near }) => [
      { solution, answer: `\\boxed{${equal}}` },
      { solution, answer: `\\boxed{${near}}` },
    ]);
    const here = jobs.map(({ solution, answer }) => judgeMath(answer, [solution]));
    const there = await Promise.all(jobs.toReversed().map(({ solution, answer }) => judge.judge(answer, [solution])));
    judge.close();
    expect(there.toReversed()).toEqual(here);
    const [first] = jobs;
    for (let n = 0; n < 1000; n++) expect(judgeMath(first?.answer ?? '', [first?.solution ?? ''])).toEqual(here[0]);
  });

  test(`a plain number gets the verdict and the reason that the full comparison gives (seed ${SEED})`, () => {
    const random = seeded(SEED);
    const spell = (): string => {
      const digits = String(random.int(0, 10 ** random.int(1, 9)));
      const tail = random() < 0.5 ? '' : `.${random.int(0, 99)}${'0'.repeat(random.int(0, 8))}`;
      return `${random() < 0.3 ? '-' : ''}${'0'.repeat(random.int(0, 1))}${digits}${tail}`;
    };
    const options = leafOptions();
    for (let n = 0; n < 3_000; n++) {
      const a = spell();
      const b = random() < 0.5 ? spell() : a.includes('.') ? `${a}${'0'.repeat(random.int(1, 9))}` : `${a}.0`;
      // In brackets it takes the long way.
      expect(compareTexts(a, b, options), `${a} | ${b}`).toEqual(compareTexts(`(${a})`, `(${b})`, options));
    }
  });
});

describe('a hostile text', () => {
  test('never throws and is never right, as an answer or as a solution', () => {
    for (const { name, solution, answer } of HOSTILE) {
      expect(judgeMath(answer, [solution]).verdict, name).not.toBe('right');
      expect(judgeMath(solution, [answer]).verdict, name).not.toBe('right');
    }
  });
});
