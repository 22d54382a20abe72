// A run that has ended, and whose rollouts are not all here: a copy without `rollouts/` or `ended/`, or a segment that lost its
// end and its index. Each reader would take it for a smaller run.

import { StoreError } from '../../domain/errors/errors.ts';
import { existsFolder } from '../places/files.ts';
import type { Store } from '../store.ts';

/** For a reader of one rollout: reads one name where there are any. */
export async function mustHoldRollouts(store: Store): Promise<void> {
  for await (const _ of store.listRollouts()) return;
  await mustHoldAll(store);
}

/** For a reader of all rollouts: reads all names of a run that has ended. */
export async function mustHoldAll(store: Store): Promise<void> {
  const complete = await completeBefore(store);
  if (complete === 0) return mustHaveStayed(store, 0, 0);
  await mustHoldQueries(store);
  let here = 0;
  for await (const { attempt } of store.listRollouts()) if (attempt === 1) here++;
  mustHold(store, complete, here);
}

/** Numbers of a run are shares of its queries. */
async function mustHoldQueries(store: Store): Promise<void> {
  const { accepted } = (await store.get('run'))?.record.dataset ?? {};
  if (accepted === undefined) return;
  const here = await store.countQueries();
  if (here === accepted) return;
  const message = `${store.folder}/queries.jsonl has ${here} rows, and its run was made with ${accepted}`;
  throw new StoreError(message, { reason: 'record-missing', fix: 'Take it from a copy of the run.' });
}

/** Asked before the rollouts are read: they may end meanwhile. 0 of a run that goes on. */
export const completeBefore = async (store: Store): Promise<number> =>
  (await store.get('result'))?.record.counts.outcomes.complete ?? 0;

/** `here`: first attempts. */
export function mustHold({ folder }: Store, complete: number, here: number): void {
  if (here >= complete) return;
  const found = here === 0 ? 'no rollout' : `${here} rollouts`;
  const message = `${folder} has a result with ${complete} complete, and ${found}: a part of rollouts/ or ended/ is missing`;
  const fix = 'Take both folders from a copy of the run; no step writes them again.';
  throw new StoreError(message, { reason: 'record-missing', fix });
}

/** After all rollouts were read: a folder that was away for a moment looked like a smaller run, or like none. */
export async function mustHaveStayed(store: Store, complete: number, here: number): Promise<void> {
  // Asked last: a run that ends meanwhile has more than were read.
  if (here < complete || (here === 0 && !(await existsFolder(store.folder)))) throw movedAway(store);
}

export function movedAway({ folder }: Store): StoreError {
  const message = `${folder} was moved, or lost files, while it was read`;
  return new StoreError(message, { reason: 'record-missing', retryable: true, fix: 'Repeat the command.' });
}
