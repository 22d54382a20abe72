// Begins a run that is planned, and leaves it: it goes on by itself. One that is there is found.

import type { Address } from '../client/temporal/cluster-settings.ts';
import type { Caller } from '../run/caller.ts';
import { knownResult, type RunPlace } from '../run/place.ts';
import { completeRunRecord, type PlannedRun } from '../run/prepare-run.ts';
import { startRun } from '../run/start-run.ts';

export interface Begun {
  readonly place: RunPlace;
  /** `attached`: it was being played already; `ended`: it has ended, and is not played again. */
  readonly found: 'new' | 'attached' | 'ended';
  /** Undefined: the cluster that the environment names. */
  readonly at?: Address;
}

export async function beginRun(planned: PlannedRun, caller: Caller): Promise<Begun> {
  const { place, isThere } = planned;
  const { signal } = caller;
  if (isThere && (await knownResult(place))) return { place, found: 'ended' };
  signal?.throwIfAborted();
  const proved = await completeRunRecord(planned, caller);
  signal?.throwIfAborted();
  const { link, attached } = await startRun(proved, caller);
  const { address, namespace } = link.session;
  await link.close();
  return { place, found: attached ? 'attached' : 'new', ...(link.local && { at: { address, namespace } }) };
}
