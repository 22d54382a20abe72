// Reads the solutions of a data set with the judge's own parts, before a run is made: a text's final answer, whether the
// judge can use it, and whether two statements of a row disagree. A judge that cannot run is an error, never a bad row.

import type { FinalAnswer, SolutionReader } from '../domain/query/solution-reader.ts';
import type { Verdict } from '../domain/rollout/verdict.ts';
import { scanBoxes } from './math/find/boxes.ts';
import { findSolution } from './math/find/answer.ts';
import type { MathJudge } from './math-environment.ts';

export function createSolutionReader(judge: Pick<MathJudge, 'judge' | 'examine'>): SolutionReader {
  const compare = (text: string, solutions: readonly string[]): Promise<Verdict> =>
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

function finalAnswer(text: string): FinalAnswer | undefined {
  const found = findSolution(text);
  if (!found) return undefined;
  const { boxes, unfinished } = scanBoxes(text);
  if (found.by === 'box' && unfinished) return undefined;
  // "\boxed{5}. The final answer is 5."
  const marked = found.by === 'box' || found.by === 'hash' || (found.by === 'phrase' && boxes.length > 0);
  return {
    text: found.text,
    by: marked ? 'mark' : found.by === 'whole' && found.otherwise === undefined ? 'whole' : 'prose',
  };
}
