// A run that has ended, and of which no rollout is here: a copy without `rollouts/` and `ended/`. Each reader would take it for
// one that nothing was played of.

import { StoreError } from '../domain/errors/errors.ts';
import type { CollectionResult } from '../domain/run/messages.ts';
import { FROM_COPY } from './disk/errors.ts';
import type { Store } from './store.ts';

/** Reads one name where the rollouts are there. */
export async function mustHoldRollouts(store: Store): Promise<void> {
  for await (const _ of store.listRollouts()) return;
  const result = (await store.getResult())?.record as Pick<CollectionResult, 'counts'> | undefined;
  const complete = result?.counts.outcomes.complete ?? 0;
  if (complete === 0) return;
  const message = `${store.folder} has a result with ${complete} complete, and no rollout: rollouts/ and ended/ are missing`;
  throw new StoreError(message, {
    reason: 'record-missing',
    fix: FROM_COPY,
  });
}
