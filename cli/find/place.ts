// `<run>` on the command line: a name under --out, or a folder's path, on a disk or in a bucket. And the reverse: the argument that names a run
// in suggested commands.

import { relative, resolve } from 'node:path';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName } from '../../domain/run/ids.ts';
import { ahead } from '../../records/ahead.ts';
import { factsOf } from '../../records/disk/facts.ts';
import { openFileStore } from '../../records/files.ts';
import { basename, dirname, join, resolvePlace } from '../../records/place.ts';
import { namesIn } from '../../records/record/listing.ts';
import { RUN_FILE } from '../../records/record/layout.ts';
import type { Store } from '../../records/store.ts';
import { DEFAULT_OUT } from '../flags.ts';
import type { Io } from '../io.ts';

export interface RunPlace {
  /** Absolute. */
  readonly out: string;
  readonly run: string;
  readonly store: Store;
}

export async function findRun(io: Io, named: string, out: string): Promise<RunPlace> {
  const root = resolvePlace(io.cwd, out);
  if (isRunName(named) && (await holdsRun(join(root, named)))) return placeOf(root, named);
  const folder = resolvePlace(io.cwd, named);
  // No path holds a zero character.
  if (!named.includes('\0') && (await holdsRun(folder))) {
    if (isRunName(basename(folder))) return placeOf(dirname(folder), basename(folder));
    throw new UsageError(`${folder} is a run, but its folder's name is not a valid run name.`, {
      reason: 'run-name',
      fix: 'Rename the folder: letters, digits, `.`, `_` and `-`.',
    });
  }
  const beside = isBucketPlace(folder) ? dirname(folder) : root;
  const known = await runNames(beside);
  const some = known.slice(0, 5).join(', ') + (known.length > 5 ? ', …' : '');
  const where = isBucketPlace(folder)
    ? `There is no run ${JSON.stringify(basename(folder))} in ${beside}.`
    : `There is no run ${JSON.stringify(named)} in ${root}, and no folder of that name.`;
  throw new UsageError(where, {
    reason: 'no-such-run',
    fix:
      known.length > 0
        ? `There are: ${some}.`
        : 'Give the run by its folder, or name the folder that holds the runs (--out; for export --runs).',
  });
}

export function placeOf(out: string, run: string): RunPlace {
  return { out, run, store: openFileStore(out, run) };
}

/** Names of the runs in a folder, sorted. */
export async function runNames(out: string): Promise<string[]> {
  const names = (await namesIn(out)).filter(isRunName);
  const found: string[] = [];
  const looked = ahead(names, AT_ONCE, async (name) =>
    (await holdsRun(join(out, name)).catch(() => false)) ? [name] : [],
  );
  for await (const name of looked) found.push(...name);
  return found;
}

const AT_ONCE = 16;

async function holdsRun(folder: string): Promise<boolean> {
  return (await factsOf(join(folder, RUN_FILE))) !== undefined;
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

/** The name by which this program was called: in a checkout through npx. */
export function programName(io: Io): string {
  return io.env['npm_command'] === undefined ? 'everturn' : 'npx --no-install everturn';
}

/** Safe to paste into a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
