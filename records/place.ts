// A place holds files: a disk, or a bucket (`s3://bucket/key`). Its paths, with the names of node:path's functions, and what can
// be done with its files, whatever it is (places/files.ts chooses).

import type { FileHandle } from 'node:fs/promises';
import * as node from 'node:path';
import { BUCKET_FORM, bucketProblem, isBucketPlace, parseBucketPlace } from '../domain/run/bucket-place.ts';
import { UsageError } from '../domain/errors/errors.ts';

export type Content = string | Uint8Array;
/** Writes the content to an open, empty file. */
export type Fill = (file: FileHandle) => Promise<void>;

export interface FileFacts {
  readonly bytes: number;
  /** By the clock that stamps the folder's files. */
  readonly modifiedMs: number;
  /** Changes when a file is removed and created again, or replaced. */
  readonly identity: string;
}

export interface FolderEntries {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** The texts of the files of one folder. */
export interface FolderTexts {
  readonly text: (file: string) => string | undefined;
  readonly names: () => string[];
}

export interface WalkOptions {
  /** Whether a folder directly below the root is walked through. */
  readonly isOwn: (name: string) => boolean;
  /** A file above the depth; of a folder that is not walked through, the folder. */
  readonly onOther: (path: string) => void;
}

/** A line of a file to which lines are appended, and its entry in the index beside it. */
export interface AppendedLine {
  readonly line: Buffer;
  readonly entryAt: (byte: number) => string;
}

/** Files appear whole or not at all. Every failure is a StoreError that names the file. */
export interface Place {
  /** Files that are read side by side: more where each is a request. */
  readonly atOnce: number;
  /** The text; undefined where there is no file. */
  read(path: string): Promise<string | undefined>;
  /** Fewer bytes only at the file's end. */
  part(path: string, offset: number, bytes: number): Promise<Buffer>;
  /** The content in parts; a missing file is Node's ENOENT. */
  stream(path: string): AsyncGenerator<Buffer>;
  /** Undefined where there is no file. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** The identity of a file, which may be some seconds old. */
  identity(path: string): Promise<string | undefined>;
  /** Now. */
  isThere(path: string): Promise<boolean>;
  /** A folder that is not there has none. */
  list(folder: string): Promise<FolderEntries>;
  /** The folders that are `depth` levels below, by their paths from the root. Names that begin with a dot are passed over. */
  walk(root: string, depth: number, options: WalkOptions): AsyncGenerator<string>;
  texts(folder: string): Promise<FolderTexts>;
  /** True if this call created the file, false if it existed already (it is unchanged). Durable on return. */
  writeOnce(path: string, content: Content | Fill): Promise<boolean>;
  /** As writeOnce, where `base` has to be there before and after: `alone` if it is not, and then this call has left nothing. */
  writeBeside(base: string, path: string, content: Content): Promise<'created' | 'exists' | 'alone'>;
  replace(path: string, content: Content | Fill): Promise<void>;
  /** Makes the file begin with the text; the change need not survive a power cut. */
  draft(path: string, text: string): Promise<void>;
  /** As draft, and durable on return. */
  settle(path: string, text: string): Promise<void>;
  /** Keeps the line for readers of all lines in the folder: where lines are not appended, as a file of this path. */
  append(folder: string, path: string, line: AppendedLine): Promise<void>;
  /** Does nothing for a file that is gone. */
  remove(path: string): Promise<void>;
  /** Removes these files, the first durably before the others, and `levels` folders as far as nothing is left in them. */
  removeAll(folder: string, names: readonly string[], levels: number): Promise<void>;
  /** Removes what killed writers left. */
  removeLeftovers(folder: string): Promise<void>;
  /** Keeps a torn file under a name that no reader opens; a whole one stays. */
  moveAside(path: string): Promise<void>;
}

export function join(folder: string, ...parts: readonly string[]): string {
  return isBucketPlace(folder) ? [folder, ...parts].join('/') : node.join(folder, ...parts);
}

/** `s3://bucket` has no parent: it is its own. */
export function dirname(path: string): string {
  if (!isBucketPlace(path)) return node.dirname(path);
  return path.lastIndexOf('/') < 's3://x'.length ? path : path.slice(0, path.lastIndexOf('/'));
}

export const basename = (path: string): string => node.posix.basename(path);

/** Whether it has folders, which other programs enter too, with locks and times of files. */
export const isOnDisk = (path: string): boolean => !isBucketPlace(path);

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
