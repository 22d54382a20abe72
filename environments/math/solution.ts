// Whether a solution of a data set can be judged against: the judge reads it, and shows it equal to itself.

import { judgeMath } from './judge.ts';

export type SolutionExam = { readonly usable: true } | { readonly usable: false; readonly reason: string };

export function examineSolution(text: string): SolutionExam {
  const { verdict, reason } = judgeMath(text, [text]);
  return verdict === 'right' ? { usable: true } : { usable: false, reason };
}
