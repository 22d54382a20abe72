// The labelled pairs of `pairs/`, one a line, and those that independent evaluators have judged (`test/real/judge`). Their
// verdicts were written before the judge was asked; those with `missed` are right, and known not to be called so.

import { readdirSync } from 'node:fs';
import type { JudgeOptions } from '../solution.ts';
import { rowsOf } from '../../../test/support/rows.ts';

export interface LabelledPair {
  readonly kind: string;
  readonly verdict: 'right' | 'wrong' | 'undecided';
  readonly reason?: string;
  readonly solutions: readonly string[];
  readonly answer: string;
  readonly question?: string;
  readonly cut?: true;
  readonly missed?: true;
}

interface Recorded extends Pick<LabelledPair, 'kind' | 'answer'> {
  readonly gold: string;
  readonly word: 'equal' | 'different';
}

export const pairsIn = (name: string) => rowsOf<LabelledPair>(`pairs/${name}`, import.meta.url);

const recorded = rowsOf<Recorded>('../../../test/real/judge/recorded.jsonl', import.meta.url).map(
  ({ kind, gold, answer, word }): LabelledPair => ({
    kind: `evaluated: ${kind}`,
    verdict: word === 'equal' ? 'right' : 'wrong',
    solutions: [gold],
    answer: `\\boxed{${answer}}`,
  }),
);

/** By kind of answer. */
export const PAIRS = new Map<string, LabelledPair[]>();
for (const pair of [...readdirSync(new URL('pairs', import.meta.url)).flatMap(pairsIn), ...recorded])
  PAIRS.set(pair.kind, [...(PAIRS.get(pair.kind) ?? []), pair]);

export const optionsOf = ({ question, cut }: LabelledPair): JudgeOptions => ({
  ...(question !== undefined && { question }),
  ...(cut && { cut }),
});
