// People's verdicts as an export takes them: each trajectory judged by people where they said something. Read once, at
// the beginning: an act that is recorded meanwhile counts in the next export.

import type { RolloutId } from '../domain/ids.ts';
import {
  type ContradictedPolicy,
  judgedByPeople,
  type PeopleLeaveOut,
  type VerdictSource,
} from '../domain/judged-by-people.ts';
import type { Trajectory } from '../domain/trajectory.ts';
import { actsOn, readActs } from './steering.ts';
import type { Store } from './store.ts';

export interface People {
  /** Whether people did anything to this rollout. */
  on(id: Omit<RolloutId, 'run'>): boolean;
  judged(played: Trajectory): Trajectory | PeopleLeaveOut;
}

/** Undefined if the judge's verdicts are wanted. A damaged act is an error: it might say anything. */
export async function openPeople(
  store: Store,
  { verdicts = 'judge', contradicted = 'drop' }: { verdicts?: VerdictSource; contradicted?: ContradictedPolicy },
): Promise<People | undefined> {
  if (verdicts === 'judge') return undefined;
  const acts = await readActs(store);
  const of = (id: Omit<RolloutId, 'run'>) => actsOn(acts, id);
  return {
    on: (id) => of(id).length > 0,
    judged(played) {
      const { query, sample, attempt } = played.rollout;
      return judgedByPeople(played, of({ query: query.queryId, sample, attempt }), contradicted);
    },
  };
}
