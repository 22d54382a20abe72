// One rollout on the command line: a query's id, --sample, --attempt; and the error if there is none.

import { type Command, Option } from 'commander';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { StoreError, UsageError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import { mustHoldRollouts } from '../../records/present.ts';
import { allQueries } from '../../records/queries.ts';
import { outOption } from '../flags.ts';
import type { RunPlace } from './place.ts';

export interface WhichRollout {
  readonly out: string;
  readonly sample: string;
  readonly attempt?: string;
}

/** <run>, <query> and the flags that choose one of the query's rollouts. */
export function rolloutArguments(command: Command): Command {
  return command
    .argument('<run>', "a run's name, or its folder")
    .argument('<query>', "the query's id")
    .addOption(outOption())
    .addOption(new Option('--sample <n>', 'one of its rollouts').default('0'))
    .addOption(new Option('--attempt <n>', 'one attempt of that rollout (default: the last)'));
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
    return new UsageError(`Query ${JSON.stringify(query)} of run "${run}" has not begun yet.`, { reason: 'not-begun' });
  }
  const some = (await store.readQueries(0, 3).catch(() => [])).map(({ queryId }) => oneLine(queryId));
  return new UsageError(`Run "${run}" has no query ${JSON.stringify(query)}.`, {
    reason: 'no-such-query',
    fix: `${some.length > 0 ? `Ids are as in ${some.join(', ')}; all` : 'Ids'} are in ${store.folder}/queries.jsonl.`,
  });
}

export function whole(flag: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${flag} is "${text}".`, {
    reason: 'bad-value',
    fix: `It takes a whole number of at least ${least}.`,
  });
}
