// The queries of a run by difficulty: how many of their samples were right at any turn. Pure. Samples of which that is
// not known (failed, undecided), or in which a person wrote, are left out of both numbers.

import { known, rightBy } from '../../statistics/outcomes.ts';
import { summaries } from './summary.ts';
import type { Row } from './row.ts';

export const KINDS = ['all', 'always', 'sometimes', 'never'] as const;
export type Kind = (typeof KINDS)[number];

export interface QueryRow {
  readonly query: string;
  readonly title: string;
  readonly right: number;
  readonly known: number;
  /** One per begun sample, in order: 1 right at any turn, 0 never, null not known. */
  readonly samples: readonly (0 | 1 | null)[];
}

export interface Difficulty {
  readonly counts: Readonly<Record<Kind, number>>;
  /** Queries by the share of right samples: 0, up to 10 %, …, below 100 %, 100 %. */
  readonly histogram: readonly number[];
  readonly rows: readonly QueryRow[];
}

const TENTHS = 10;

/** Hardest first; equal ones in data set order. */
export function difficulty(rows: readonly Row[], kind: Kind, numTurns: number): Difficulty {
  const titles = new Map(rows.map(({ query, title }) => [query, title]));
  const groups = new Map<string, (0 | 1 | null)[]>();
  for (const rollout of summaries(rows)) {
    const samples = groups.get(rollout.query) ?? [];
    samples.push(rollout.outcome === null || rollout.steered ? null : rightBy(rollout, numTurns));
    groups.set(rollout.query, samples);
  }
  const all = [...groups].map(([query, samples]): QueryRow => {
    const values = known(samples);
    const right = values.filter((value) => value === 1).length;
    return { query, title: titles.get(query)!, right, known: values.length, samples };
  });
  const judged = all.filter((row) => row.known > 0);
  const histogram = Array.from<number>({ length: TENTHS + 2 }).fill(0);
  for (const { right, known: of } of judged) {
    const bin = right === 0 ? 0 : right === of ? TENTHS + 1 : 1 + Math.floor((TENTHS * right) / of);
    histogram[Math.min(bin, right === of ? TENTHS + 1 : TENTHS)]!++;
  }
  const counts = Object.fromEntries(KINDS.map((one) => [one, all.filter(IS[one]).length]));
  const chosen = all.filter(IS[kind]);
  const share = ({ right, known: of }: QueryRow) => (of === 0 ? 2 : right / of);
  return { counts: counts as Record<Kind, number>, histogram, rows: chosen.sort((a, b) => share(a) - share(b)) };
}

const IS: Readonly<Record<Kind, (row: QueryRow) => boolean>> = {
  all: () => true,
  always: ({ right, known: of }) => of > 0 && right === of,
  sometimes: ({ right, known: of }) => right > 0 && right < of,
  never: ({ right, known: of }) => of > 0 && right === 0,
};
