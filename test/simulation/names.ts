// The names of a simulated run's queries and rollouts.

import { rolloutWorkflowId } from '../../domain/names/ids.ts';

export const RUN = 'sim';
export const OUT = '/out';

export function queryOf(index: number): string {
  return `q${index}`;
}

export function childId(unit: number, samples: number): string {
  return rolloutWorkflowId({
    run: RUN,
    query: queryOf(Math.floor(unit / samples)),
    sample: unit % samples,
    attempt: 1,
  });
}
