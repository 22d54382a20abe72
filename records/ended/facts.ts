// How an ended rollout ended: what a list of rollouts shows of it, without its turns.

import { type RolloutFiles, summaryOf } from '../summary.ts';
import type { EndedFacts } from './ended.ts';
import type { EndedRollout } from './line.ts';

export const filesOf = ({ records }: EndedRollout): RolloutFiles => ({
  text: (file) => records.get(file)?.text,
  tail: (file) => records.get(file)?.text,
  names: () => [...records.keys()],
});

export function factsOf(rollout: EndedRollout): EndedFacts | undefined {
  const found = summaryOf(filesOf(rollout), rollout.of, null, { detail: 'ends' });
  if (!found) return undefined;
  const { query: _query, sample: _sample, attempt: _attempt, index: _index, turns: _turns, ...facts } = found;
  return facts;
}
