// A text file that grows by one block at a time and is made durable at its end. A block is written behind what is
// there, in one call: a process killed in that very moment may leave a part of it, which the next writer mends. (To
// replace the whole file each time costs two names and a new inode, which some file systems search for long.)

import { dirname } from 'node:path';
import { codeOf, fileError } from './file-errors.ts';
import { type FileLayer, withPlace } from './file-layer.ts';
import { readText, replaceDraft, replaceFile, syncFolder } from './write-once.ts';

/** Writes the block behind the first `bytes` bytes; false when the file has any other length, or is not there. */
export async function growFile(path: string, bytes: number, block: string, layer: FileLayer): Promise<boolean> {
  try {
    return await withPlace(async () => {
      const file = await layer.open(path, 'r+');
      try {
        if ((await file.stat()).size !== bytes) return false;
        const content = Buffer.from(block);
        for (let at = 0; at < content.length;) {
          at += (await file.write(content, at, content.length - at, bytes + at)).bytesWritten;
        }
        return true;
      } finally {
        await file.close();
      }
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw fileError('write', path, error);
  }
}

/** Makes sure that the file begins with the text. True when it says no more than that. */
export async function draftFile(path: string, text: string, layer: FileLayer): Promise<boolean> {
  const present = await readText(path, layer);
  // A late writer of an earlier state must not take away what a later one wrote.
  if (!present?.startsWith(text)) await replaceDraft(path, text, layer);
  else if (present.length > text.length) return false;
  return true;
}

/** As draftFile, and what the file says then survives a power cut. */
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
