// Reads inside a run's folder that follow no symbolic link: a link that was planted there serves no file of another
// place. A file that is absent is undefined, also when it disappears between two reads. Every read blocks, because that takes
// a third of the processor time of an asynchronous one; in-batches.ts lets requests in between.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../domain/errors/errors.ts';
import { ENDED } from '../records/format/layout.ts';

const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR']);

/** The result of `look`; undefined where there is nothing to look at. */
function unlessAbsent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** Names of the real folders in a folder; none where there is no such folder. */
export function realFoldersIn(path: string): string[] {
  return entries(path)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** Names of the real files in a folder. */
export function filesIn(path: string): string[] {
  return entries(path)
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

/** Milliseconds of its last change; undefined if it is not there. */
export const changedAt = (path: string): number | undefined => unlessAbsent(() => lstatSync(path).mtimeMs);

/** Changes with the size of any file in a folder. */
export const sizesIn = (path: string): string =>
  filesIn(path)
    .map((name) => `${name} ${unlessAbsent(() => lstatSync(join(path, name)).size) ?? 0}`)
    .join('\n');

/** Throws if a step of `path` below `root`, or a file in that folder, is a symbolic link, or one among the ended rollouts. */
export function mustBePlain(root: string, path: string): void {
  for (const folder of [path, ENDED]) {
    let at = root;
    for (const step of ['', ...folder.split('/')]) {
      at = step === '' ? at : join(at, step);
      if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) throw linked(at);
    }
    const link = entries(at).find((entry) => entry.isSymbolicLink());
    if (link) throw linked(join(at, link.name));
  }
}

function linked(path: string): StoreError {
  return new StoreError(`${path} is a symbolic link`, {
    reason: 'record-broken',
    fix: 'The viewer follows none: put the run itself into the folder.',
  });
}

const entries = (path: string) => unlessAbsent(() => readdirSync(path, { withFileTypes: true })) ?? [];
