// `<run>` on the command line: a name under --out, or a folder's path, on a disk or in a bucket; else a run that the server
// plays elsewhere. And the reverse: the argument that names a run in suggested commands.

import { relative, resolve } from 'node:path';
import { StoreError, UsageError } from '../../domain/errors/errors.ts';
import { isRunName, type RolloutId } from '../../domain/names/ids.ts';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { type OpenedRun, openPlace } from '../../library/open-run.ts';
import { DEFAULT_OUT, runPlace, type RunPlace } from '../../run/place.ts';
import { join, resolvePlace } from '../../records/place.ts';
import { mustHoldRollouts } from '../../records/run/present.ts';
import { allQueries } from '../../records/run/queries.ts';
import { unusable } from '../command.ts';
import type { Io } from '../io.ts';
import { ifUp } from './link.ts';

/** The run as its folder has it. */
export const findRun = (io: Io, named: string, out: string): Promise<OpenedRun> =>
  openPlace(named, { cwd: io.cwd, env: io.env, out });

/** The same of a run that was started elsewhere, or whose folder was removed, if the server plays it. */
export async function locateRun(io: Io, named: string, out: string): Promise<RunPlace> {
  try {
    return await findRun(io, named, out);
  } catch (error) {
    if (!(error instanceof UsageError) || error.reason !== 'no-such-run' || !isRunName(named)) throw error;
    // A reader of a folder does not load Temporal's client.
    const { describeWorkflow } = await import('../../client/temporal/runs.ts');
    const facts = await ifUp(io, ({ session }) => describeWorkflow(session, named, 1));
    if (facts?.state !== 'running') throw error;
    return runPlace(facts.out ?? resolvePlace(io.cwd, out), named);
  }
}

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
