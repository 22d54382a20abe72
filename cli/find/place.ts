// `<run>` on the command line: a name under --out, or a folder's path, on a disk or in a bucket; else a run that the server
// plays elsewhere. And the reverse: the argument that names a run in suggested commands.

import { relative, resolve } from 'node:path';
import { describeWorkflow } from '../../client/temporal/runs.ts';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName } from '../../domain/run/ids.ts';
import { ahead } from '../../records/ahead.ts';
import { openFileStore } from '../../records/files.ts';
import { basename, dirname, join, resolvePlace } from '../../records/place.ts';
import { namesIn } from '../../records/record/listing.ts';
import type { Store } from '../../records/store.ts';
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
  const here = (await openRun(root, named)) ?? (await openRun(dirname(folder), basename(folder)));
  if (here) return here;
  const beside = isBucketPlace(folder) ? dirname(folder) : root;
  const known = await runNames(beside);
  const some = known.slice(0, 5).join(', ') + (known.length > 5 ? ', …' : '');
  throw unusable(
    isBucketPlace(folder)
      ? `There is no run ${JSON.stringify(basename(folder))} in ${beside}.`
      : `There is no run ${JSON.stringify(named)} in ${root}, and no folder of that name.`,
    known.length > 0
      ? `There are: ${some}.`
      : 'Give the run by its folder, or name the folder that holds the runs (--out; for export --runs).',
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
    return placeOf(facts.out ?? resolvePlace(io.cwd, out), named);
  }
}

/** The name of a new run. */
export function mustBeRunName(name: string): void {
  if (isRunName(name)) return;
  throw unusable(
    `--name ${JSON.stringify(name)} cannot name a run.`,
    'Use letters, digits, `.`, `_` and `-`, at most 100 of them.',
    'run-name',
  );
}

export function placeOf(out: string, run: string): RunPlace {
  return { out, run, store: openFileStore(out, run) };
}

async function openRun(out: string, run: string): Promise<RunPlace | undefined> {
  const place = isRunName(run) ? placeOf(out, run) : undefined;
  return (await place?.store.exists()) ? place : undefined;
}

/** Names of the runs in a folder, sorted. */
export async function runNames(out: string): Promise<string[]> {
  const names = (await namesIn(out)).filter(isRunName);
  const found: string[] = [];
  const looked = ahead(names, AT_ONCE, (name) => openRun(out, name).catch(() => undefined));
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

/** The name by which this program was called: in a checkout through npx. */
export function programName(io: Io): string {
  return io.env['npm_command'] === undefined ? 'everturn' : 'npx --no-install everturn';
}

/** Safe to paste into a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
