// The numbers of a run in the head of its page and in the list of runs, both from the same statistics. Pure.

import type { EndCount, RunSummary } from './summary.ts';

export interface HeadNumbers {
  /** Shares, as of `everturn stats`; null where none is known. */
  readonly right: { readonly first: number | null; readonly last: number | null; readonly any: number | null };
  readonly meanReturn: number | null;
  readonly ended: number;
  /** The ended rollouts that failed and those that could not be judged, by their causes. */
  readonly troubles: readonly Trouble[];
}

export interface Trouble {
  readonly state: 'failed' | 'undecided';
  readonly count: number;
  readonly reason: string | null;
}

/** Every rollout failed. */
export const hasFailed = ({ ended, troubles }: Pick<HeadNumbers, 'ended' | 'troubles'>): boolean =>
  ended > 0 && troubles.reduce((all, { state, count }) => all + (state === 'failed' ? count : 0), 0) === ended;

export function headNumbers({ headline, ended, ends }: Pick<RunSummary, 'headline' | 'ended' | 'ends'>): HeadNumbers {
  const { first, last, any, meanReturn } = headline;
  return {
    right: { first: first.value, last: last.value, any: any.value },
    meanReturn: meanReturn.value,
    ended,
    troubles: (['failed', 'undecided'] as const).flatMap((state) => troubleOf(state, ends)),
  };
}

/** Each cause, with its own count; `ends`: the most frequent first. */
function troubleOf(state: Trouble['state'], ends: readonly EndCount[]): readonly Trouble[] {
  const own = ends.filter((end) => end.state === state);
  return [...new Set(own.map(({ reason }) => reason))].map((reason) => {
    const count = own.reduce((all, end) => all + (end.reason === reason ? end.count : 0), 0);
    return { state, count, reason };
  });
}
