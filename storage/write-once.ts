// Files that appear whole or not at all. `writeOnce` never replaces: of any number of writers, in any
// number of processes, the first wins and the others learn what it wrote. `replaceFile` puts a new
// content in place of the old. A killed writer leaves at most a temporary file, which no reader looks at.

import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rmdir, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, fileError } from './file-errors.ts';
import { temporaryName } from './layout.ts';

export type Content = string | Uint8Array;
/** Writes the content to a file that is open and empty. */
export type Fill = (file: FileHandle) => Promise<void>;

/** True when the file is ours, false when one was there already (it is untouched). */
export async function writeOnce(path: string, content: Content | Fill, linkFile: typeof link = link): Promise<boolean> {
  const temporary = await writeTemporary(path, content);
  try {
    return await publish(temporary, path, linkFile);
  } catch (error) {
    throw fileError('write', path, error);
  } finally {
    await Promise.all([unlink(temporary).catch(() => {}), syncFolder(dirname(path))]);
  }
}

export async function replaceFile(path: string, content: Content | Fill): Promise<void> {
  await moveThere(await writeTemporary(path, content), path);
  await syncFolder(dirname(path));
}

/** As replaceFile, for a content that another will replace soon: a killed process harms it not, a power cut may. */
export async function replaceDraft(path: string, content: Content): Promise<void> {
  await moveThere(await writeTemporary(path, content, false), path);
}

async function moveThere(temporary: string, path: string): Promise<void> {
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw fileError('write', path, error);
  }
}

/** True when there is no such file, or one with fewer bytes. */
export async function isShorter(path: string, text: string): Promise<boolean> {
  try {
    return (await stat(path)).size < Buffer.byteLength(text);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw fileError('read', path, error);
  }
}

/** The file's text, or undefined when there is none. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

async function writeTemporary(path: string, content: Content | Fill, durable = true): Promise<string> {
  const folder = dirname(path);
  const temporary = join(folder, temporaryName(basename(path), `${process.pid}-${randomBytes(6).toString('hex')}`));
  let file: FileHandle | undefined;
  try {
    file = await openNew(temporary);
    if (typeof content === 'function') await content(file);
    else await file.writeFile(content);
    if (durable) await file.sync();
    await file.close();
    return temporary;
  } catch (error) {
    await file?.close().catch(() => {});
    await unlink(temporary).catch(() => {});
    throw fileError('write', path, error);
  }
}

/** Its folder is there as a rule. */
async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return open(path, 'wx');
  }
}

const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV']);

async function publish(temporary: string, path: string, linkFile: typeof link): Promise<boolean> {
  try {
    await linkFile(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
  }
  return publishUnderLock(temporary, path);
}

const STALE_LOCK_MS = 10_000;

/** For file systems without hard links: a folder is the lock, as its making is atomic everywhere. */
async function publishUnderLock(temporary: string, path: string): Promise<boolean> {
  const lock = join(dirname(path), temporaryName(basename(path), 'lock'));
  for (;;) {
    if (await stat(path).catch(() => undefined)) return false;
    try {
      await mkdir(lock);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const held = await stat(lock).catch(() => undefined);
      if (held && Date.now() - held.mtimeMs > STALE_LOCK_MS) await rmdir(lock).catch(() => {});
      await sleep(20);
      continue;
    }
    try {
      if (await stat(path).catch(() => undefined)) return false;
      await rename(temporary, path);
      return true;
    } finally {
      await rmdir(lock).catch(() => {});
    }
  }
}

/** Makes the folder and, where it is new, its new parents durable. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

/** A name is durable when its folder is. Some systems cannot sync a folder: then they need not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  if (!handle) return;
  await handle.sync().catch(() => {});
  await handle.close().catch(() => {});
}
