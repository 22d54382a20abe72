// What a store asks of its file system: few calls, each a whole step, so that they can be carried out elsewhere
// (threaded-disk.ts). Every failure is a StoreError that names the file.

import { codeOf, fileError } from './errors.ts';
import { type FileLayer, NODE_FILES } from './file-layer.ts';
import { draftFile, settleFile } from '../record/log-file.ts';
import { readText, writeOnce } from './write-once.ts';

export interface Disk {
  /** The file's text; undefined when there is none. */
  read(path: string): Promise<string | undefined>;
  /** What file that is now, undefined when there is none; and the text of another, where one is named. */
  look(path: string, other: string | null): Promise<Look>;
  /** True when the file is ours, false when one was there already (it is untouched). Durable then. */
  writeOnce(path: string, text: string): Promise<boolean>;
  /** Makes sure that the file begins with the text; it need not survive a power cut. */
  draft(path: string, text: string): Promise<void>;
  /** As draft; durable then. */
  settle(path: string, text: string): Promise<void>;
}

export interface Look {
  /** Another where a file is removed and made anew. */
  readonly identity: string | undefined;
  readonly text: string | undefined;
}

/** `layer`: the calls that each is made of. */
export function openDisk(layer: FileLayer = NODE_FILES): Disk {
  return {
    read: (path) => readText(path, layer),
    async look(path, other) {
      const identity = await identityOf(path, layer);
      return { identity, text: other === null ? undefined : await readText(other, layer) };
    },
    writeOnce: (path, text) => writeOnce(path, text, layer),
    draft: (path, text) => draftFile(path, text, layer),
    settle: (path, text) => settleFile(path, text, layer),
  };
}

async function identityOf(path: string, layer: FileLayer): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs } = await layer.stat(path);
    return `${dev} ${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}
