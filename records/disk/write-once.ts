// Files that appear complete or not at all. `writeOnce` never replaces: of any number of writers in any number of processes,
// the first wins and the others read its content. `replaceFile` replaces the content. A killed writer leaves
// at most a temporary file, which no reader opens.

import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Content, Fill } from '../place.ts';
import { isOlderThan } from './clock.ts';
import { codeOf, fileError } from './errors.ts';
import { type FileLayer, NODE_FILES, type OpenFile, withPlace } from './file-layer.ts';
import { temporaryName, writerName } from './writer.ts';

/** True if this call created the file, false if it existed already (it is unchanged). */
export async function writeOnce(
  path: string,
  content: Content | Fill,
  layer: FileLayer = NODE_FILES,
): Promise<boolean> {
  const temporary = await writeTemporary(path, content, layer);
  try {
    return await publish(temporary, path, layer);
  } catch (error) {
    throw fileError('write', path, error);
  } finally {
    await Promise.all([layer.unlink(temporary).catch(() => {}), withPlace(() => syncFolder(dirname(path), layer))]);
  }
}

/** As writeOnce, where `base` has to be there before and after: `alone` if it is not, and then this call has left nothing. */
export async function writeBeside(
  base: string,
  path: string,
  content: Content,
  layer: FileLayer,
): Promise<'created' | 'exists' | 'alone'> {
  if ((await identityOf(base, layer)) === undefined) return 'alone';
  const created = await writeOnce(path, content, layer);
  if ((await identityOf(base, layer)) !== undefined) return created ? 'created' : 'exists';
  if (created) await layer.unlink(path).catch(() => {});
  return 'alone';
}

/** Undefined where there is no file. */
export async function identityOf(path: string, layer: FileLayer): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs } = await layer.stat(path);
    return `${dev} ${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

export async function replaceFile(path: string, content: Content | Fill, layer: FileLayer = NODE_FILES): Promise<void> {
  await moveThere(await writeTemporary(path, content, layer), path, layer);
  await withPlace(() => syncFolder(dirname(path), layer));
}

/** As replaceFile, for content that is soon replaced again: it survives a killed process, but perhaps not a power cut. */
async function replaceDraft(path: string, content: Content, layer: FileLayer = NODE_FILES): Promise<void> {
  await moveThere(await writeTemporary(path, content, layer, false), path, layer);
}

/** Makes the file begin with the text. */
export async function draftFile(path: string, text: string, layer: FileLayer): Promise<void> {
  const present = await readText(path, layer);
  if (!present?.startsWith(text)) await replaceDraft(path, text, layer);
}

/** As draftFile, and the content then survives a power cut. */
export async function settleFile(path: string, text: string, layer: FileLayer): Promise<void> {
  const present = await readText(path, layer);
  if (!present?.startsWith(text)) return replaceFile(path, text, layer);
  try {
    await withPlace(async () => {
      const file = await layer.open(path, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      await syncFolder(dirname(path), layer);
    });
  } catch (error) {
    throw fileError('write', path, error);
  }
}

async function moveThere(temporary: string, path: string, layer: FileLayer): Promise<void> {
  try {
    await layer.rename(temporary, path);
  } catch (error) {
    await layer.unlink(temporary).catch(() => {});
    throw fileError('write', path, error);
  }
}

/** The file's text, or undefined when there is none. */
export async function readText(path: string, layer: FileLayer = NODE_FILES): Promise<string | undefined> {
  try {
    return await withPlace(() => layer.readFile(path));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

async function writeTemporary(
  path: string,
  content: Content | Fill,
  layer: FileLayer,
  durable = true,
): Promise<string> {
  const folder = dirname(path);
  const temporary = join(folder, temporaryName(basename(path), writerName()));
  // Content that is generated while it is written may read files itself.
  const placed = typeof content === 'function' ? <T>(use: () => Promise<T>) => use() : withPlace;
  return placed(async () => {
    let file: OpenFile | undefined;
    try {
      file = await openNew(temporary, layer);
      if (typeof content === 'function') await content(file as FileHandle);
      else await file.writeFile(content);
      if (durable) await file.sync();
      await file.close();
      return temporary;
    } catch (error) {
      await file?.close().catch(() => {});
      await layer.unlink(temporary).catch(() => {});
      throw fileError('write', path, error);
    }
  });
}

/** Another worker may remove a folder that was just made, because its rollout was the last in it. */
const TRIES = 20;

/** Tries without creating the folder first, because it nearly always exists. */
export async function openNew(path: string, layer: FileLayer): Promise<OpenFile> {
  for (let left = TRIES; ; left--) {
    try {
      return await layer.open(path, 'wx');
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || left === 0) throw error;
    }
    await makeFolder(dirname(path), layer).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT' || left === 1) throw error;
    });
    await syncAbove(dirname(path), layer);
  }
}

const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV']);

async function publish(temporary: string, path: string, layer: FileLayer): Promise<boolean> {
  try {
    await layer.link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
  }
  return publishUnderLock(temporary, path, layer);
}

const STALE_LOCK_MS = 10_000;

/** For file systems without hard links: a folder is the lock, because mkdir is atomic everywhere. */
async function publishUnderLock(temporary: string, path: string, layer: FileLayer): Promise<boolean> {
  const lock = join(dirname(path), temporaryName(basename(path), 'lock'));
  for (;;) {
    if (await layer.stat(path).catch(() => undefined)) return false;
    try {
      await layer.mkdir(lock);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      if (await isOlderThan(lock, STALE_LOCK_MS, dirname(path), layer)) await layer.rmdir(lock).catch(() => {});
      await sleep(20);
      continue;
    }
    try {
      if (await layer.stat(path).catch(() => undefined)) return false;
      await layer.rename(temporary, path);
      return true;
    } finally {
      await layer.rmdir(lock).catch(() => {});
    }
  }
}

/** The folders down to a rollout's: that which holds the run, the run's, that of all rollouts, its shard's, its query's. */
const LEVELS = 5;

/**
 * Another process may have created one of the folders above, and not have made it durable yet, or never, if it was killed:
 * then what is written below would go with it.
 */
async function syncAbove(folder: string, layer: FileLayer): Promise<void> {
  let above = dirname(folder);
  for (let level = 0; level < LEVELS; level++, above = dirname(above)) await syncFolder(above, layer);
}

/** Creates the folder and its parents. Node's own recursion never ends if none can be created (/proc). */
async function makeFolder(folder: string, layer: FileLayer): Promise<void> {
  const parent = dirname(folder);
  const make = () =>
    layer.mkdir(folder).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  try {
    await make();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent, layer);
    await make();
  }
}

/** A name is durable once its folder is synced. Some systems cannot sync a folder and do not need it. */
export async function syncFolder(folder: string, layer: FileLayer): Promise<void> {
  const handle = await layer.open(folder, 'r').catch(() => undefined);
  if (!handle) return;
  try {
    await handle.sync();
  } catch (error) {
    if (!NO_FOLDER_SYNC.has(codeOf(error) ?? '')) throw fileError('write', folder, error);
  } finally {
    await handle.close().catch(() => {});
  }
}
/** File systems on which a folder cannot be synced; any other error means that its names may be lost. */
const NO_FOLDER_SYNC = new Set(['EINVAL', 'EPERM', 'EACCES', 'EISDIR', 'EBADF', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);
