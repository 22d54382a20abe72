// The identity of each query of a run, as hashes: of its prompt, of its solutions, and of the judge they are for. Two runs
// are compared query by query only if the same id has the same prompt in both.

import { createHash } from 'node:crypto';
import type { Query } from '../../domain/query/query.ts';
import { playedQueries } from './played-queries.ts';
import type { Store } from '../store.ts';

export interface QueryDigest {
  readonly query: string;
  readonly prompt: string;
  readonly solutions: string;
  /** The judge of a task, or the environment of the run that answers. */
  readonly judge: string;
}

export async function* queryDigests(store: Store): AsyncGenerator<QueryDigest> {
  for await (const query of playedQueries(store)) yield digestOf(query);
}

function digestOf({ queryId, prompt, task, environment, ...judged }: Query): QueryDigest {
  return {
    query: queryId,
    prompt: digest(prompt),
    solutions: digest(judged),
    judge: digest([task, environment ?? null]),
  };
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');
