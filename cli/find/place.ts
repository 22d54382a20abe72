// `<run>` on the command line: a name under --out, or a folder's path, on a disk or in a bucket; else a run that the server
// plays elsewhere. And the reverse: the argument that names a run in suggested commands.

import { relative, resolve } from 'node:path';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { UsageError, StoreError } from '../../domain/errors/errors.ts';
import { evaluationsNamed } from '../../domain/run/evaluation.ts';
import { isRunName, type RolloutId, RUN_NAME_RULE } from '../../domain/names/ids.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import { openFileStore } from '../../records/file-store.ts';
import { basename, dirname, join, resolvePlace } from '../../records/place.ts';
import { namesIn } from '../../records/in-flight/listing.ts';
import type { Store } from '../../records/store.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { mustHoldRollouts } from '../../records/run/present.ts';
import { allQueries } from '../../records/run/queries.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import { addResult, countEnded, noCounts } from '../../domain/run/progress.ts';
import { trajectoryResult } from '../../domain/rollout/trajectory.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { readActs } from '../../records/run/steering.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { describeWorkflow } from '../../client/temporal/runs.ts';
import { unusable } from '../command.ts';
import { DEFAULT_OUT } from '../flags.ts';
import type { Io } from '../io.ts';
import { ifUp } from './link.ts';

export interface RunPlace {
  /** Absolute. */
  readonly out: string;
  readonly run: string;
  readonly store: Store;
}

/** The run as its folder has it. */
export async function findRun(io: Io, named: string, out: string): Promise<RunPlace> {
  const root = resolvePlace(io.cwd, out);
  const folder = resolvePlace(io.cwd, named);
  const evaluations = evaluationsNamed(named);
  const here =
    (await openRun(root, named)) ??
    (await openRun(dirname(folder), basename(folder))) ??
    (evaluations === null ? undefined : await openRun(join(root, evaluations), named));
  if (here) return here;
  const beside = isBucketPlace(folder) ? dirname(folder) : root;
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

/** The same of a run that was started elsewhere, or whose folder was removed, if the server plays it. */
export async function locateRun(io: Io, named: string, out: string): Promise<RunPlace> {
  try {
    return await findRun(io, named, out);
  } catch (error) {
    if (!(error instanceof UsageError) || error.reason !== 'no-such-run' || !isRunName(named)) throw error;
    const facts = await ifUp(io, ({ session }) => describeWorkflow(session, named, 1));
    if (facts?.state !== 'running') throw error;
    return runPlace(facts.out ?? resolvePlace(io.cwd, out), named);
  }
}

/** The name of a new run. */
export function mustBeRunName(name: string): void {
  if (isRunName(name)) return;
  throw unusable(`--name ${JSON.stringify(name)} cannot name a run.`, RUN_NAME_RULE, 'run-name');
}

export function runPlace(out: string, run: string): RunPlace {
  return { out, run, store: openFileStore(out, run) };
}

async function openRun(out: string, run: string): Promise<RunPlace | undefined> {
  const place = isRunName(run) ? runPlace(out, run) : undefined;
  return (await place?.store.exists()) ? place : undefined;
}

/** Names of the runs in a folder, sorted. */
export async function runNames(out: string): Promise<string[]> {
  const names = (await namesIn(out)).filter(isRunName);
  const found: string[] = [];
  const looked = mapAhead(names, AT_ONCE, (name) => openRun(out, name).catch(() => undefined));
  for await (const place of looked) if (place) found.push(place.run);
  return found;
}

const AT_ONCE = 16;

/** The argument that names this run in a command typed in the same folder. */
export function runArgument(io: Io, { out, run }: Pick<RunPlace, 'out' | 'run'>): string {
  return out === resolve(io.cwd, DEFAULT_OUT) ? run : shellQuoted(shortPath(io, join(out, run)));
}

/** The path relative to the working directory, if that is shorter. */
export function shortPath(io: Io, path: string): string {
  if (isBucketPlace(path)) return path;
  const near = relative(io.cwd, path);
  return near === '' ? '.' : near.startsWith('../../..') ? path : near.startsWith('.') ? near : `./${near}`;
}

/** A command on this run, as `everturn show first arith-0007`. */
export function commandLine(
  io: Io,
  place: Pick<RunPlace, 'out' | 'run'>,
  verb: string,
  ...rest: readonly string[]
): string {
  return ['everturn', verb, runArgument(io, place), ...rest].join(' ');
}

/** Safe to paste into a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface WhichRollout {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number | undefined;
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

/**
 * The result of the run; undefined until it has ended. The stored one counts first attempts; where a rollout was tried again,
 * the records are counted, of each sample the last attempt.
 */
export async function knownResult(place: RunPlace): Promise<KnownResult | undefined> {
  // The collection itself writes it, as a whole, with a hash.
  const result = (await place.store.getResult())?.record as CollectionResult | undefined;
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

/** `inFlight`: rollouts that are tried again now. */
export type KnownResult = CollectionResult & { readonly inFlight?: number };

/** `inFlight`: rollouts that have begun and not ended. */
export async function recordedProgress({ out, store }: RunPlace) {
  const record = (await store.getRun())?.record;
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
