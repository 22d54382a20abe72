// The identity of each query of a run, as hashes: of its prompt, and of everything that decides right and wrong. Two runs
// are compared query by query only if the same id has the same prompt in both.

import { createHash } from 'node:crypto';
import type { Query } from '../domain/query.ts';
import { allQueries } from './queries.ts';
import type { Store } from './store.ts';

export interface QueryDigest {
  readonly query: string;
  readonly prompt: string;
  readonly solutions: string;
}

/** In data set order; then, of a run without a data set, those of its rollouts. */
export async function* queryDigests(store: Store): AsyncGenerator<QueryDigest> {
  if ((await store.countQueries()) > 0) {
    for await (const query of allQueries(store)) yield digestOf(query);
    return;
  }
  const seen = new Set<string>();
  for await (const id of store.listRollouts()) {
    if (seen.has(id.query)) continue;
    seen.add(id.query);
    const rollout = await store.getRollout(id);
    if (rollout) yield digestOf(rollout.record.query);
  }
}

function digestOf({ queryId, prompt, ...judged }: Query): QueryDigest {
  return { query: queryId, prompt: digest(prompt), solutions: digest(judged) };
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');
