// The labelled pairs of `pairs/`, one a line, and those that independent evaluators have judged (`test/real/judge`). Their
// verdicts were written before the judge was asked; those with `missed` are right, and known not to be called so.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JudgeOptions } from '../../environments/math/judge-options.ts';

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

export function rowsOf<T>(name: string): T[] {
  const lines = readFileSync(join(import.meta.dirname, name), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

const recorded = rowsOf<Recorded>('../real/judge/recorded.jsonl').map(({ kind, gold, answer, word }): LabelledPair => ({
  kind: `evaluated: ${kind}`,
  verdict: word === 'equal' ? 'right' : 'wrong',
  solutions: [gold],
  answer: `\\boxed{${answer}}`,
}));

/** By kind of answer. */
export const PAIRS = new Map<string, LabelledPair[]>();
for (const pair of [
  ...readdirSync(join(import.meta.dirname, 'pairs')).flatMap((name) => rowsOf<LabelledPair>(join('pairs', name))),
  ...recorded,
])
  PAIRS.set(pair.kind, [...(PAIRS.get(pair.kind) ?? []), pair]);

export const optionsOf = ({ question, cut }: LabelledPair): JudgeOptions => ({
  ...(question !== undefined && { question }),
  ...(cut && { cut }),
});
