// One rollout on the command line: a query's id, --sample, --attempt; and the error if there is none.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { StoreError, type UsageError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import { mustHoldRollouts } from '../../records/present.ts';
import { allQueries } from '../../records/queries.ts';
import { unusable } from '../command.ts';
import type { RunPlace } from './place.ts';

export interface WhichRollout {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number | undefined;
}

export async function findRollout(place: RunPlace, { query, sample, attempt }: WhichRollout): Promise<RolloutId> {
  const all = await place.store.listRolloutsOf(query);
  if (all.length === 0) throw await noRollout(place, query);
  const found = all.findLast((id) => id.sample === sample && (attempt === undefined || id.attempt === attempt));
  if (found) return found;
  const there = all.map((id) => `${id.sample}${id.attempt > 1 ? ` (attempt ${id.attempt})` : ''}`).join(', ');
  throw unusable(`Query ${JSON.stringify(query)} has no such rollout.`, `Its samples: ${there}.`, 'no-such-rollout');
}

/** Whether the run has this query; false if its queries cannot be read. */
export async function isQuery({ store }: RunPlace, query: string): Promise<boolean> {
  try {
    for await (const { queryId } of allQueries(store)) if (queryId === query) return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
  return false;
}

export async function noRollout(place: RunPlace, query: string): Promise<UsageError> {
  const { run, store } = place;
  await mustHoldRollouts(store);
  if (await isQuery(place, query)) {
    return unusable(`Query ${JSON.stringify(query)} of run "${run}" has not begun yet.`, undefined, 'not-begun');
  }
  const some = (await store.readQueries(0, 3).catch(() => [])).map(({ queryId }) => oneLine(queryId));
  return unusable(
    `Run "${run}" has no query ${JSON.stringify(query)}.`,
    `${some.length > 0 ? `Ids are as in ${some.join(', ')}; all` : 'Ids'} are in ${store.folder}/queries.jsonl.`,
    'no-such-query',
  );
}
