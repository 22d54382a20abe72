// Files by their paths, wherever these are. `placeOf` is the one function that knows which kinds of places there are.

import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { openBucketPlace } from '../bucket/place.ts';
import { diskPlace } from '../disk/disk-place.ts';
import { type FileLayer, NODE_FILES } from '../disk/file-layer.ts';
import { linesIn } from '../disk/facts.ts';
import type { Content, FileFacts, Fill, FolderEntries, Place } from '../place.ts';

/** `layer`: the calls of the file system to use. */
export function openPlaces(layer: FileLayer): (path: string) => Place {
  const [disk, bucket] = [diskPlace(layer), openBucketPlace()];
  return (path) => (isBucketPlace(path) ? bucket : disk);
}

export const placeOf = openPlaces(NODE_FILES);

export const readText = (path: string): Promise<string | undefined> => placeOf(path).read(path);
export const readPart = (path: string, offset: number, bytes: number): Promise<Buffer> =>
  placeOf(path).part(path, offset, bytes);
export const streamOf = (path: string): AsyncGenerator<Buffer> => placeOf(path).stream(path);
export const factsOf = (path: string): Promise<FileFacts | undefined> => placeOf(path).facts(path);
export const writeOnce = (path: string, content: Content | Fill): Promise<boolean> =>
  placeOf(path).writeOnce(path, content);
export const replaceFile = (path: string, content: Content | Fill): Promise<void> =>
  placeOf(path).replace(path, content);
export const removeFile = (path: string): Promise<void> => placeOf(path).remove(path);
export const removeOldTemporaries = (folder: string): Promise<void> => placeOf(folder).removeLeftovers(folder);
export const entriesOf = (folder: string): Promise<FolderEntries> => placeOf(folder).list(folder);

/** Names in a folder, sorted; none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  const { files, folders } = await entriesOf(folder);
  return [...files, ...folders].sort();
}

/** Each line with its LF, if present. Only LF ends a line: a JSON text may hold U+2028. */
export const linesOf = (path: string): AsyncGenerator<string> => linesIn(streamOf(path));

/** In a bucket: something is in it. */
export async function existsFolder(folder: string): Promise<boolean> {
  const { files, folders } = await entriesOf(folder);
  return files.length + folders.length > 0 || (await factsOf(folder)) !== undefined;
}
