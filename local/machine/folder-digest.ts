// The SHA-256 of a folder: of the paths, the executable bits and the bytes of all its files, whatever made it and wherever it is.
// A link, and whatever else is no file, is an error: its target may be another one on another machine.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Thrown for what is neither a file nor a folder. */
export class OddFile extends Error {}

export async function folderDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const line of linesOf(folder, '')) hash.update(line);
  return hash.digest('hex');
}

async function* linesOf(folder: string, within: string): AsyncGenerator<string> {
  const entries = await readdir(join(folder, within));
  for (const name of entries.toSorted((a, b) => (a < b ? -1 : 1))) {
    const path = within === '' ? name : `${within}/${name}`;
    const stats = await lstat(join(folder, path));
    if (stats.isDirectory()) yield* linesOf(folder, path);
    else if (!stats.isFile()) throw new OddFile(path);
    else yield `${JSON.stringify([path, (stats.mode & 0o100) !== 0, await fileDigest(join(folder, path))])}\n`;
  }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);
  return hash.digest('hex');
}
