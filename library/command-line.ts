// Commands that a message suggests, as they can be typed in the caller's folder; and the argument that names a run in them.

import { relative, resolve } from 'node:path';
import { isOnDisk, join } from '../records/place.ts';
import type { Caller } from '../run/caller.ts';
import { DEFAULT_OUT, type RunPlace } from '../run/place.ts';

/** Whose working directory it is. */
export type InFolder = Pick<Caller, 'cwd'>;

/** The argument that names this run in a command typed in the same folder. */
export function runArgument({ cwd }: InFolder, { out, run }: Pick<RunPlace, 'out' | 'run'>): string {
  return out === resolve(cwd, DEFAULT_OUT) ? run : shellQuoted(shortPath({ cwd }, join(out, run)));
}

/** The path relative to the working directory, if that is shorter. */
export function shortPath({ cwd }: InFolder, path: string): string {
  if (!isOnDisk(path)) return path;
  const near = relative(cwd, path);
  return near === '' ? '.' : near.startsWith('../../..') ? path : near.startsWith('.') ? near : `./${near}`;
}

/** A command on this run, as `everturn show first arith-0007`. */
export function commandLine(
  asker: InFolder,
  place: Pick<RunPlace, 'out' | 'run'>,
  verb: string,
  ...rest: readonly string[]
): string {
  return ['everturn', verb, runArgument(asker, place), ...rest].join(' ');
}

/** Safe to paste into a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
