// What time it is by the clock that stamps a folder's files. Ages of files are told by it alone: the clock of this
// machine may be wrong, or set back, and machines that share a folder need not agree.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { FileLayer } from './file-layer.ts';
import { temporaryName } from '../record/layout.ts';

/** Epoch milliseconds. Undefined where the folder takes no file: then nothing in it is known to be old. */
export async function fileClock(folder: string, layer: Pick<FileLayer, 'open' | 'stat' | 'unlink'>) {
  const probe = join(folder, temporaryName('clock', randomBytes(8).toString('hex')));
  try {
    await (await layer.open(probe, 'wx')).close();
    return (await layer.stat(probe)).mtimeMs;
  } catch {
    return undefined;
  } finally {
    await layer.unlink(probe).catch(() => {});
  }
}

/** False also where the file is gone, or its age cannot be told. */
export async function isOlderThan(
  path: string,
  ageMs: number,
  folder: string,
  layer: Pick<FileLayer, 'open' | 'stat' | 'unlink'>,
): Promise<boolean> {
  const found = await layer.stat(path).catch(() => undefined);
  const now = found && (await fileClock(folder, layer));
  return now !== undefined && now - found!.mtimeMs > ageMs;
}
