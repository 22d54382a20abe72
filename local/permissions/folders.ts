// Folders that a permission covers, by their real paths: symbolic links are resolved, also if the end of a path does not
// exist yet; a place in a bucket has one name. Not covered: later changes of a folder by users with write access, who are trusted.

import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { isBucketPlace, parseBucketPlace } from '../../domain/run/bucket-place.ts';

/** Absolute, or in a bucket, without `..`, `.` or empty parts; undefined for anything else. */
export function plainPath(path: unknown): string | undefined {
  if (typeof path === 'string' && isBucketPlace(path)) return parseBucketPlace(path) && path;
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) return undefined;
  const trimmed = path.length > 1 ? path.replace(/\/+$/, '') : path;
  return normalize(trimmed) === trimmed ? trimmed : undefined;
}

/** Undefined if a part of it is a dangling link or cannot be read. A bucket has no links. */
export function realPath(path: string): string | undefined {
  if (isBucketPlace(path)) return path;
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || isThere(path) || dirname(path) === path) return undefined;
    const parent = realPath(dirname(path));
    return parent === undefined ? undefined : join(parent, basename(path));
  }
}

/** Both as returned by `realPath`. */
export function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
