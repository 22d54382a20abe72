// The wrong answers of a run as a table, or counted by their verdict's reason.

import { oneLine, short } from '../../domain/text/foreign-text.ts';
import { whichOf } from '../../library/find-rollout.ts';
import type { WrongAnswer } from '../../library/wrong-answers.ts';
import { count, type Paint, percent, table } from '../format.ts';

const cut = (text: string | null, most: number): string => (text === null ? '–' : short(oneLine(text), most));

export const wrongText = (wrong: readonly WrongAnswer[], paint: Paint): string =>
  table(
    wrong,
    [
      ['query', (one) => oneLine([one.query, ...whichOf(one)].join(', ')), 'bold'],
      ['reason', ({ reason }) => oneLine(reason)],
      ['found', ({ extracted }) => cut(extracted, 24), 'red'],
      ['reference', ({ reference }) => cut(reference, 24), 'green'],
      wrong.some(({ isCut }) => isCut) && ['cut', ({ isCut }) => (isCut ? 'cut' : '')],
      ['question', ({ title }) => cut(title, 60), 'dim'],
    ],
    paint,
  );

export interface ReasonCount {
  readonly reason: string;
  readonly n: number;
  /** Of these, answers that a limit on tokens ended. */
  readonly cut: number;
}

/** The most frequent first. */
export function countByReason(wrong: readonly WrongAnswer[]): ReasonCount[] {
  const reasons = [...new Set(wrong.map(({ reason }) => reason))].map((reason) => {
    const own = wrong.filter((one) => one.reason === reason);
    return { reason, n: own.length, cut: own.filter(({ isCut }) => isCut).length };
  });
  return reasons.sort((a, b) => b.n - a.n);
}

export function reasonsText(reasons: readonly ReasonCount[], paint: Paint): string {
  const all = reasons.reduce((total, { n }) => total + n, 0);
  return table(
    reasons,
    [
      ['reason', ({ reason }) => oneLine(reason), 'bold'],
      ['>wrong', ({ n }) => count(n)],
      ['>share', ({ n }) => percent(n, all)],
      ['>cut', (one) => count(one.cut)],
    ],
    paint,
  );
}
