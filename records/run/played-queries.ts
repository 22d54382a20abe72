// The queries of a run, each once: in data set order; of a run whose rollouts were started one by one, those of its
// rollouts, in no order.

import type { Query } from '../../domain/query/query.ts';
import { allQueries } from './queries.ts';
import type { Store } from '../store.ts';

export async function* playedQueries(store: Store): AsyncGenerator<Query> {
  if ((await store.countQueries()) > 0) return yield* allQueries(store);
  const seen = new Set<string>();
  for await (const id of store.listRollouts()) {
    if (seen.has(id.query)) continue;
    seen.add(id.query);
    const rollout = await store.getRollout(id);
    if (rollout) yield rollout.record.query;
  }
}
