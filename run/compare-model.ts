// Compares a backend's model with that of a run's record: a run goes on with the model that it was made with, also in another
// worker on another day.

import { differingCanaries, differingTraits } from '../domain/weights/model-identity.ts';
import type { Backend } from '../inference/backend.ts';
import { openFileStore } from '../records/file-store.ts';
import { basename, dirname } from '../records/place.ts';

/** Runs, by backend, that were found to be of its model. */
const matchedRuns = new WeakMap<Backend, Set<string>>();

/** The difference, or null. `isChanged`: new weights were declared; all else is compared all the same. */
export async function differsFromRun(
  backend: Backend,
  model: string,
  runFolder: string,
  isChanged: boolean,
): Promise<string | null> {
  const runs = matchedRuns.get(backend) ?? new Set();
  matchedRuns.set(backend, runs);
  const { identity } = backend.facts;
  if (!identity || runs.has(runFolder)) return null;
  const run = basename(runFolder);
  const record = (await openFileStore(dirname(runFolder), run).getRun())?.record;
  if (record?.model) {
    const before = { who: `the start of run "${run}"`, identity: record.model };
    const now = { who: model, identity: isChanged ? { ...identity, weights: null } : identity };
    const differs = differingTraits(before, now) ?? differingCanaries(before, now);
    if (differs !== null) return differs;
  }
  if (record) runs.add(runFolder);
  return null;
}
