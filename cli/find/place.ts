// `<run>` on the command line: a name under --out, or a folder's path, on a disk or in a bucket; else a run that the server
// plays elsewhere. And the reverse: the argument that names a run in suggested commands.

import { relative, resolve } from 'node:path';
import { locatePlace, type OpenedRun, openPlace } from '../../library/open-run.ts';
import { printProgress } from '../../local/machine/progress.ts';
import { DEFAULT_OUT, type RunPlace } from '../../run/place.ts';
import { isOnDisk, join } from '../../records/place.ts';
import type { Io } from '../io.ts';

/** The run as its folder has it. */
export const findRun = (io: Io, named: string, out: string): Promise<OpenedRun> =>
  openPlace(named, { ...aroundOf(io), out });

/** The same of a run that was started elsewhere, or whose folder was removed, if the server plays it. */
export const locateRun = (io: Io, named: string, out: string): Promise<OpenedRun> =>
  locatePlace(named, { ...aroundOf(io), out });

/** What the library sees of a command: it is told, too, why a server does not answer. */
export const aroundOf = ({ cwd, env, err }: Io) => ({ cwd, env, onProgress: printProgress(err) });

/** The argument that names this run in a command typed in the same folder. */
export function runArgument(io: Io, { out, run }: Pick<RunPlace, 'out' | 'run'>): string {
  return out === resolve(io.cwd, DEFAULT_OUT) ? run : shellQuoted(shortPath(io, join(out, run)));
}

/** The path relative to the working directory, if that is shorter. */
export function shortPath(io: Io, path: string): string {
  if (!isOnDisk(path)) return path;
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
