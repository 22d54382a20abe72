// A run that has ended, and whose rollouts are not all here: a copy without `rollouts/` or `ended/`, or a segment that lost its
// end and its index. Each reader would take it for a smaller run.

import { StoreError } from '../../domain/errors/errors.ts';
import { FROM_COPY } from '../disk/errors.ts';
import type { Store } from '../store.ts';

/** For a reader of one rollout: reads one name where there are any. */
export async function mustHoldRollouts(store: Store): Promise<void> {
  for await (const _ of store.listRollouts()) return;
  await mustHoldAll(store);
}

/** For a reader of all rollouts: reads all names of a run that has ended. */
export async function mustHoldAll(store: Store): Promise<void> {
  const result = (await store.get('result'))?.record;
  const complete = result?.counts.outcomes.complete ?? 0;
  if (complete === 0) return;
  let here = 0;
  for await (const { attempt } of store.listRollouts()) if (attempt === 1) here++;
  if (here >= complete) return;
  const message = `${store.folder} has a result with ${complete} complete, and ${here === 0 ? 'no rollout' : `${here} rollouts`}: a part of rollouts/ or ended/ is missing`;
  throw new StoreError(message, { reason: 'record-missing', fix: FROM_COPY });
}
