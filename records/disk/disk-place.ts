// A disk as a place: folders and files of this machine, or of a file system that machines share.

import { readdirSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NO_LINK, readRegular } from '../../local/machine/regular-file.ts';
import { isHarmless } from '../format/layout.ts';
import type { AppendedLine, FolderEntries, FolderTexts, Place } from '../place.ts';
import { codeOf, fileError } from './errors.ts';
import { factsOf, readPart, removeFile, streamOf } from './facts.ts';
import type { FileLayer } from './file-layer.ts';
import { moveAside, removeLeftovers } from './leftovers.ts';
import { openSegmentWriter, type SegmentWriter } from './segment-writer.ts';
import {
  draftFile,
  identityOf,
  readText,
  replaceFile,
  settleFile,
  syncFolder,
  writeBeside,
  writeOnce,
} from './write-once.ts';

/** One for all users of a layer in this thread: a segment is of a thread, however many stores it opens. */
export function diskPlace(layer: FileLayer): Place {
  const place = known.get(layer) ?? openDiskPlace(layer);
  known.set(layer, place);
  return place;
}
const known = new WeakMap<FileLayer, Place>();

function openDiskPlace(layer: FileLayer): Place {
  const append = openAppending(layer);
  return {
    atOnce: 1,
    read: (path) => readText(path, layer),
    part: readPart,
    stream: streamOf,
    facts: factsOf,
    identity: (path) => identityOf(path, layer),
    isThere: async (path) => (await identityOf(path, layer)) !== undefined,
    list: entriesOf,
    walk: (root, depth, { isOwn, onOther }) => walkFolders(root, '', depth, isOwn, onOther),
    texts: async (folder) => textsIn(folder),
    writeOnce: (path, content) => writeOnce(path, content, layer),
    writeBeside: (base, path, content) => writeBeside(base, path, content, layer),
    replace: (path, content) => replaceFile(path, content, layer),
    draft: (path, text) => draftFile(path, text, layer),
    settle: (path, text) => settleFile(path, text, layer),
    append: (folder, _, line) => append(folder, line),
    remove: removeFile,
    removeAll: (folder, names, levels) => removeAll(folder, names, levels, layer),
    removeLeftovers,
    moveAside,
  };
}

/** Folders whose segment is open. */
const MOST_OPEN = 16;

function openAppending(layer: FileLayer): (folder: string, line: AppendedLine) => Promise<void> {
  const writers = new Map<string, SegmentWriter>();
  return (folder, line) => {
    const writer = writers.get(folder) ?? openSegmentWriter(folder, layer);
    writers.delete(folder);
    writers.set(folder, writer);
    for (const [oldest, other] of writers) {
      if (writers.size <= MOST_OPEN) break;
      writers.delete(oldest);
      void other.close();
    }
    return writer.add(line);
  };
}

async function entriesOf(folder: string): Promise<FolderEntries> {
  try {
    // Most folders of rollouts are gone: a failed reading of one costs more than this look.
    if (!statSync(folder, { throwIfNoEntry: false })) return { files: [], folders: [] };
    const entries = await readdir(folder, { withFileTypes: true });
    const [folders, files] = [true, false].map((wanted) =>
      entries.filter((entry) => entry.isDirectory() === wanted).map(({ name }) => name),
    ) as [string[], string[]];
    return { files, folders };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { files: [], folders: [] };
    throw fileError('read', folder, error);
  }
}

async function* walkFolders(
  root: string,
  path: string,
  depth: number,
  isOwn: (name: string) => boolean,
  onOther: (path: string) => void,
): AsyncGenerator<string> {
  const { files, folders } = await entriesOf(join(root, path));
  const below = (name: string) => (path === '' ? name : `${path}/${name}`);
  for (const name of files) if (!isHarmless(name)) onOther(below(name));
  for (const name of folders.toSorted()) {
    if (isHarmless(name)) continue;
    if (path === '' && !isOwn(name)) onOther(name);
    else if (depth === 1) yield below(name);
    else yield* walkFolders(root, below(name), depth - 1, isOwn, onOther);
  }
}

/**
 * Each read when it is asked for. Blocking reads are three times as cheap as asynchronous ones. A symbolic link is not there: one
 * that was planted shows no file of another place.
 */
function textsIn(folder: string): FolderTexts {
  function unlessGone<T>(path: string, read: (path: string) => T): T | undefined {
    try {
      return read(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return undefined;
      throw fileError('read', path, error);
    }
  }
  return {
    text: (file) => unlessGone(join(folder, file), (path) => readRegular(path, undefined, NO_LINK)),
    names: () => unlessGone(folder, (path) => readdirSync(path)) ?? [],
  };
}

async function removeAll(
  folder: string,
  [first, ...others]: readonly string[],
  levels: number,
  layer: FileLayer,
): Promise<void> {
  const remove = (name: string) =>
    layer.unlink(join(folder, name)).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw fileError('remove', join(folder, name), error);
    });
  if (first !== undefined) {
    await remove(first);
    await syncFolder(folder, layer);
  }
  await Promise.all(others.map(remove));
  await removeLeftovers(folder);
  // A folder that is not empty stays, with those above it.
  for (let path = folder, level = 0; level < levels; level++, path = dirname(path)) {
    try {
      await layer.rmdir(path);
    } catch {
      return;
    }
  }
}
