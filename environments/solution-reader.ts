// Reads the solutions of a data set with the judge's own parts, before a run is made: a text's final answer, whether the
// judge can use it, and whether two statements of a row disagree. A judge that cannot run is an error, never a bad row.

import { finalAnswer, type Judged } from '../packages/judge/index.ts';
import type { SolutionReader } from '../domain/query/solution-reader.ts';
import type { MathJudge } from './math-environment.ts';

export function createSolutionReader(judge: Pick<MathJudge, 'judge' | 'examine'>): SolutionReader {
  const compare = (text: string, solutions: readonly string[]): Promise<Judged> =>
    judge.judge(`\\boxed{${text}}`, solutions);

  return {
    finalAnswer,

    examine: (solutions) => judge.examine(solutions),

    async mayBe(text, solutions) {
      const there = await compare(text, solutions);
      if (there.verdict !== 'wrong' || there.reason !== 'different') return true;
      // Each side may say more than the other: a unit, a name before an equals sign.
      const back = await Promise.all(
        solutions.map((solution) => compare(finalAnswer(solution)?.text ?? solution, [text])),
      );
      return back.some(({ verdict, reason }) => verdict !== 'wrong' || reason !== 'different');
    },
  };
}
