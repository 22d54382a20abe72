// The time by the clock that stamps a folder's files. The ages of files are computed from it alone: this machine's clock
// may be wrong or set back, and machines that share a folder need not agree.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { FileLayer } from './file-layer.ts';
import { temporaryName } from './writer.ts';

/** Epoch milliseconds. Undefined if the folder takes no file: then nothing in it counts as old. */
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

/** False also if the file is gone or its age is unknown. */
export async function isOlderThan(
  path: string,
  ageMs: number,
  folder: string,
  layer: Pick<FileLayer, 'open' | 'stat' | 'unlink'>,
): Promise<boolean> {
  const mtimeMs = await layer.stat(path).then(
    (found) => found.mtimeMs,
    () => undefined,
  );
  const now = mtimeMs === undefined ? undefined : await fileClock(folder, layer);
  return now !== undefined && now - mtimeMs! > ageMs;
}
