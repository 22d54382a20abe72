// A log: a text file that is replaced as a whole with every turn and made durable at the end. A kill never leaves it
// incomplete, and a late writer of an earlier state removes nothing.

import { dirname } from 'node:path';
import { inBucket } from '../bucket/files.ts';
import { fileError } from './errors.ts';
import { type FileLayer, withPlace } from './file-layer.ts';
import { readText, replaceDraft, replaceFile, syncFolder } from './write-once.ts';

/** Makes the file begin with the text. */
export async function draftFile(path: string, text: string, layer: FileLayer): Promise<void> {
  // In a bucket, where each write is a request, a log appears at its rollout's end.
  if (inBucket(path)) return;
  const present = await readText(path, layer);
  if (!present?.startsWith(text)) await replaceDraft(path, text, layer);
}

/** As draftFile, and the content then survives a power cut. */
export async function settleFile(path: string, text: string, layer: FileLayer): Promise<void> {
  const there = inBucket(path);
  // Nearly always the first: then no other state of it is overwritten.
  if (there && (await there.writeOnce(text))) return;
  const present = await readText(path, layer);
  if (!present?.startsWith(text)) return replaceFile(path, text, layer);
  if (there) return;
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
