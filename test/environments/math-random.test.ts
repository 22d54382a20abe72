// Random and mutated answers, from a seed: each is right or wrong, in bounded time. JUDGE_FUZZ asks for more of them.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { examineSolution } from '../../environments/math/solution.ts';
import { judgeMath } from '../../environments/math/judge.ts';
import { cpuMs } from '../support/cpu.ts';
import { fuzzAnswers } from './fuzz-answers.ts';

interface Pair {
  readonly solutions: readonly [string];
  readonly answer: string;
}

const read = (name: string): Pair[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Pair);

const COUNT = Number(process.env['JUDGE_FUZZ'] ?? 3_000);
const SEED = Number(process.env['JUDGE_FUZZ_SEED'] ?? 20_261_122);
const SLOWEST_MS = 1_500;

describe('the judge of random answers', () => {
  test(
    `${COUNT} random and mutated answers are each right or wrong, in bounded time (seed ${SEED})`,
    () => {
      const pairs = [...read('./math-pairs.jsonl'), ...read('./math-kinds.jsonl')]
        .map(({ solutions: [solution], answer }) => [solution, answer] as const)
        .filter(([solution]) => examineSolution(solution).usable);
      for (const { solution, answer, cut } of fuzzAnswers(SEED, COUNT, pairs)) {
        const of = JSON.stringify({ solution, answer });
        const tookMs = cpuMs(() =>
          expect(judgeMath(answer, [solution], { cut }).verdict, of).toMatch(/^(right|wrong)$/),
        );
        expect(tookMs, of).toBeLessThan(SLOWEST_MS);
      }
    },
    Math.max(600_000, COUNT * 200),
  );
});
