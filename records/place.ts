// Paths of files and folders, on a disk or in a bucket (`s3://bucket/key`), with the names of node:path's functions.

import * as node from 'node:path';
import { BUCKET_FORM, bucketProblem, isBucketPlace, parseBucketPlace } from '../domain/run/bucket-place.ts';
import { UsageError } from '../domain/errors/errors.ts';

export function join(folder: string, ...parts: readonly string[]): string {
  return isBucketPlace(folder) ? [folder, ...parts].join('/') : node.join(folder, ...parts);
}

/** `s3://bucket` has no parent: it is its own. */
export function dirname(path: string): string {
  if (!isBucketPlace(path)) return node.dirname(path);
  return path.lastIndexOf('/') < 's3://x'.length ? path : path.slice(0, path.lastIndexOf('/'));
}

export const basename = (path: string): string => node.posix.basename(path);

/** Whether its workers see a folder, with locks and times of files; not so in a bucket. */
export const isShared = (folder: string): boolean => !isBucketPlace(folder);

/** The place that a user named: absolute on a disk, plain in a bucket. Throws a UsageError. */
export function resolvePlace(cwd: string, named: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(named)?.[1]?.toLowerCase();
  if (scheme === undefined) return node.resolve(cwd, named);
  const plain = named.replace(/^s3:/i, 's3:').replace(/\/+$/, '');
  if (scheme === 's3' && parseBucketPlace(plain)) return plain;
  const why = scheme === 's3' ? `: ${bucketProblem(plain)}` : '';
  throw new UsageError(`${JSON.stringify(named)} is no place for runs${why}.`, {
    reason: 'bad-value',
    fix: scheme === 's3' ? BUCKET_FORM : OTHER_SCHEMES,
  });
}

const OTHER_SCHEMES =
  'Name a folder, or a bucket as s3://bucket/prefix: AWS_ENDPOINT_URL names a server other than Amazon’s (docs/operate.md).';
