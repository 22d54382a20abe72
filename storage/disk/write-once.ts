// Files that appear whole or not at all. `writeOnce` never replaces: of any number of writers, in any
// number of processes, the first wins and the others learn what it wrote. `replaceFile` puts a new
// content in place of the old. A killed writer leaves at most a temporary file, which no reader looks at.

import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOlderThan } from './clock.ts';
import { codeOf, fileError } from './errors.ts';
import { type FileLayer, NODE_FILES, type OpenFile, withPlace } from './file-layer.ts';
import { temporaryName } from '../record/layout.ts';

export type Content = string | Uint8Array;
/** Writes the content to a file that is open and empty. Node's own files only. */
export type Fill = (file: FileHandle) => Promise<void>;

/** True when the file is ours, false when one was there already (it is untouched). */
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

export async function replaceFile(path: string, content: Content | Fill, layer: FileLayer = NODE_FILES): Promise<void> {
  await moveThere(await writeTemporary(path, content, layer), path, layer);
  await withPlace(() => syncFolder(dirname(path), layer));
}

/** As replaceFile, for a content that another will replace soon: a killed process harms it not, a power cut may. */
export async function replaceDraft(path: string, content: Content, layer: FileLayer = NODE_FILES): Promise<void> {
  await moveThere(await writeTemporary(path, content, layer, false), path, layer);
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
    return await withPlace(() => layer.readFile(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

/** No two writers share it, threads of one process included. */
const UNIQUE = `${process.pid}-${randomBytes(6).toString('hex')}`;
let written = 0;

async function writeTemporary(
  path: string,
  content: Content | Fill,
  layer: FileLayer,
  durable = true,
): Promise<string> {
  const folder = dirname(path);
  const temporary = join(folder, temporaryName(basename(path), `${UNIQUE}-${(written++).toString(36)}`));
  // A content that is made on the way may read files of its own.
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

/** Its folder is there as a rule. */
async function openNew(path: string, layer: FileLayer): Promise<OpenFile> {
  try {
    return await layer.open(path, 'wx');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(path), layer);
    return layer.open(path, 'wx');
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

/** For file systems without hard links: a folder is the lock, as its making is atomic everywhere. */
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

/** Makes the folder and its parents, each durable. Node's own recursion never ends where none can be made (/proc). */
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
  await syncFolder(parent, layer);
}

/** A name is durable when its folder is. Some systems cannot sync a folder: then they need not. */
export async function syncFolder(folder: string, layer: FileLayer): Promise<void> {
  const handle = await layer.open(folder, 'r').catch(() => undefined);
  if (!handle) return;
  await handle.sync().catch(() => {});
  await handle.close().catch(() => {});
}
