// People's acts on a run's rollouts, one file each: `steering/<name>.json`, named by content, written once, closed by a
// hash as every record. Nothing that was recorded before is touched.

import { StoreError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { actName, isActOn, type NamedAct, type SteeringAct } from '../../domain/run/steering.ts';
import { join } from '../place.ts';
import { recordError } from '../disk/errors.ts';
import { isActFile, rolloutFolder, STEERING, steeringFile } from '../format/layout.ts';
import type { Store } from '../store.ts';
import { namesIn, removeOldTemporaries } from '../places/files.ts';

export interface StoredAct extends NamedAct {
  /** False if the same act was recorded before: that one counts. */
  readonly created: boolean;
  /** Relative to the run's folder. */
  readonly file: string;
}

export async function putAct(store: Store, act: SteeringAct): Promise<StoredAct> {
  const name = actName(act);
  await removeOldTemporaries(join(store.folder, STEERING));
  const { created } = await store.put('steering', null, act);
  return { name, act: created ? act : await readAct(store, name), created, file: steeringFile(name) };
}

async function readAct(store: Store, name: string): Promise<SteeringAct> {
  const path = join(store.folder, steeringFile(name));
  const stored = await store.get('steering', name);
  if (!stored) throw recordError(path, 'was there and is gone');
  const { format: _, ...act } = stored.record as SteeringAct & { format?: string };
  if (actName(act) !== name) throw recordError(path, 'has the name of another act');
  return act;
}

/** All acts by the folder of their rollout. */
export type Acts = ReadonlyMap<string, readonly NamedAct[]>;

/**
 * Every act of the run, in the order of their names. A damaged file goes to `onBroken` and is left out; without it, it is an
 * error. Memory: one entry for each act.
 */
export async function readActs(store: Store, onBroken?: (error: StoreError) => void): Promise<Acts> {
  const acts = new Map<string, NamedAct[]>();
  for (const file of await namesIn(join(store.folder, STEERING))) {
    if (!isActFile(file)) continue;
    const name = file.slice(0, -'.json'.length);
    try {
      const act = await readAct(store, name);
      const of = rolloutFolder(act.of);
      const known = acts.get(of);
      if (known) known.push({ name, act });
      else acts.set(of, [{ name, act }]);
    } catch (error) {
      if (!(error instanceof StoreError) || !onBroken) throw error;
      onBroken(error);
    }
  }
  return acts;
}

export function actsOn(acts: Acts, id: Omit<RolloutId, 'run'>): readonly NamedAct[] {
  return (acts.get(rolloutFolder(id)) ?? []).filter(({ act }) => isActOn(act, id));
}
