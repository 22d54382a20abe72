// A rollout of a run by its query, sample and attempt, and why there is none.

import { StoreError, type UsageError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { mustHoldRollouts } from '../records/run/present.ts';
import { allQueries } from '../records/run/queries.ts';
import type { RunPlace } from '../run/place.ts';

export interface WhichRollout {
  readonly query: string;
  readonly sample: number;
  /** Default: the last one. */
  readonly attempt: number | undefined;
}

/** `sample 2`, `attempt 3`: which rollout of its query, where it is not the first. */
export const whichOf = ({ sample, attempt }: Pick<RolloutId, 'sample' | 'attempt'>): string[] => [
  ...(sample > 0 ? [`sample ${sample}`] : []),
  ...(attempt > 1 ? [`attempt ${attempt}`] : []),
];

/** `turn 2 of arith-0007`, with the sample and the attempt where they are not the first. */
export function rolloutTitle({ query, sample, attempt }: Omit<RolloutId, 'run'>, turn: number | null): string {
  return oneLine(`${turn === null ? '' : `turn ${turn} of `}${[query, ...whichOf({ sample, attempt })].join(', ')}`);
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

/** `follow`: the command that follows the run. */
export const stillPlayed = ({ run }: RunPlace, { query }: RolloutId, follow: string): UsageError =>
  unusable(
    `Rollout ${JSON.stringify(query)} of run "${run}" has not ended.`,
    `\`${follow}\` follows it to its end.`,
    'still-played',
  );
