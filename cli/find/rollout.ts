// One rollout as users name it: a query's id, --sample, --attempt; and the error if there is none.

import { oneLine } from '../../domain/foreign-text.ts';
import { UsageError } from '../../domain/errors.ts';
import type { RolloutId } from '../../domain/ids.ts';
import type { RunPlace } from './place.ts';

export interface WhichRollout {
  readonly sample: string;
  readonly attempt?: string;
}

export async function findRollout(place: RunPlace, query: string, flags: WhichRollout): Promise<RolloutId> {
  const sample = whole('--sample', flags.sample, 0);
  const attempt = flags.attempt === undefined ? undefined : whole('--attempt', flags.attempt, 1);
  const all = await place.store.listRolloutsOf(query);
  if (all.length === 0) throw await noRollout(place, query);
  const found = all.filter((id) => id.sample === sample && (attempt === undefined || id.attempt === attempt)).at(-1);
  if (found) return found;
  const there = all.map((id) => `${id.sample}${id.attempt > 1 ? ` (attempt ${id.attempt})` : ''}`).join(', ');
  throw new UsageError(`Query ${JSON.stringify(query)} has no such rollout.`, {
    reason: 'no-such-rollout',
    fix: `Its samples: ${there}.`,
  });
}

export async function noRollout({ run, store }: RunPlace, query: string): Promise<UsageError> {
  const first = await store.readQueries(0, 1000).catch(() => []);
  if (first.some(({ queryId }) => queryId === query)) {
    return new UsageError(`Query ${JSON.stringify(query)} of run "${run}" has not begun yet.`, { reason: 'not-begun' });
  }
  const some = first.slice(0, 3).map(({ queryId }) => oneLine(queryId));
  return new UsageError(`Run "${run}" has no query ${JSON.stringify(query)}.`, {
    reason: 'no-such-query',
    fix: `Ids are as in ${some.join(', ')}; all are in ${store.folder}/queries.jsonl.`,
  });
}

export function whole(flag: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${flag} is "${text}".`, {
    reason: 'bad-value',
    fix: `It takes a whole number of at least ${least}.`,
  });
}
