// The place of a run: found by a name in a folder of runs, by its own folder, on a disk or in a bucket; and how far it has
// come, by its records alone.

import { StoreError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { isRunName } from '../domain/names/ids.ts';
import { trajectoryResult } from '../domain/rollout/trajectory.ts';
import { evaluationsNamed } from '../domain/run/evaluation.ts';
import type { CollectionResult } from '../domain/run/messages.ts';
import { addResult, countEnded, noCounts } from '../domain/run/progress.ts';
import { samplesPerQuery } from '../domain/samples/group.ts';
import { openFileStore } from '../records/file-store.ts';
import { mapAhead } from '../records/map-ahead.ts';
import { basename, dirname, isOnDisk, join, resolvePlace } from '../records/place.ts';
import { readTrajectories } from '../records/reading/trajectories.ts';
import { readActs } from '../records/run/steering.ts';
import type { Store } from '../records/store.ts';
import { namesIn } from '../records/places/files.ts';

/** The folder of runs, in the working directory. */
export const DEFAULT_OUT = 'runs';

export interface RunPlace {
  /** The folder that holds the run's; absolute. */
  readonly out: string;
  readonly run: string;
  readonly store: Store;
}

/** A run that goes on by itself, or has ended. */
export interface Begun {
  readonly place: RunPlace;
  /** `attached`: it was being played already; `ended`: it has ended, and is not played again. */
  readonly found: 'new' | 'attached' | 'ended';
  /** The server; undefined: the cluster that the environment names. */
  readonly at?: { readonly address: string; readonly namespace: string };
}

export function runPlace(out: string, run: string): RunPlace {
  return { out, run, store: openFileStore(out, run) };
}

/** The run as its folder has it. `out`: the folder that holds runs; relative paths are of `cwd`. */
export async function placeNamed(named: string, { cwd, out }: { cwd: string; out: string }): Promise<RunPlace> {
  const root = resolvePlace(cwd, out);
  const folder = resolvePlace(cwd, named);
  const evaluations = evaluationsNamed(named);
  const here =
    (await placeIn(root, named)) ??
    (await placeIn(dirname(folder), basename(folder))) ??
    (evaluations === null ? undefined : await placeIn(join(root, evaluations), named));
  if (here) return here;
  const beside = isOnDisk(folder) ? root : dirname(folder);
  const known = await runNames(beside);
  const some = known.slice(0, 5).join(', ') + (known.length > 5 ? ', …' : '');
  throw unusable(
    `There is no run ${JSON.stringify(named)} in ${beside}, and no folder of that name.`,
    known.length > 0
      ? `There are: ${some}.`
      : 'Give the run by its folder, or name the folder that holds the runs (--out).',
    'no-such-run',
  );
}

async function placeIn(out: string, run: string): Promise<RunPlace | undefined> {
  const place = isRunName(run) ? runPlace(out, run) : undefined;
  return (await place?.store.exists()) ? place : undefined;
}

/** Names of the runs in a folder, sorted. */
export async function runNames(out: string): Promise<string[]> {
  const names = (await namesIn(out)).filter(isRunName);
  const found: string[] = [];
  const looked = mapAhead(names, AT_ONCE, (name) => placeIn(out, name).catch(() => undefined));
  for await (const place of looked) if (place) found.push(place.run);
  return found;
}

const AT_ONCE = 16;

/** `inFlight`: rollouts that are tried again now. */
export type KnownResult = CollectionResult & { readonly inFlight?: number };

/**
 * The result of the run; undefined until it has ended. The stored one counts first attempts; where a rollout was tried again,
 * the records are counted, of each sample the last attempt.
 */
export async function knownResult(place: RunPlace): Promise<KnownResult | undefined> {
  // The collection itself writes it, as a whole, with a hash.
  const result = (await place.store.get('result'))?.record;
  // A damaged act is for `check` to name, as is a rollout that cannot be counted.
  const acts = result ? [...(await readActs(place.store, () => {})).values()].flat() : [];
  if (!result || !acts.some(({ act }) => act.act === 'retry')) return result;
  try {
    const { counts, inFlight } = await recordedProgress(place);
    return { ...result, counts, inFlight };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return result;
  }
}

/** `inFlight`: rollouts that have begun and not ended. */
export async function recordedProgress({ out, store }: RunPlace) {
  const record = (await store.get('run'))?.record;
  const numTurns = record?.settings.numTurns ?? 0;
  const counts = noCounts();
  let inFlight = 0;
  for await (const trajectory of readTrajectories(store)) {
    const result = trajectoryResult(out, trajectory);
    if (result) addResult(counts, result, numTurns);
    else inFlight++;
  }
  // Rollouts that a client started directly have no list of queries.
  const total = Math.max(
    (await store.countQueries()) * (record ? samplesPerQuery(record) : 1),
    countEnded(counts) + inFlight,
  );
  return { total, numTurns, counts, inFlight };
}
