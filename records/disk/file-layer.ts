// The file system of the store: Node's own, or a test's substitute that is full, slow or broken. Also limits the number
// of open files, however many rollouts are in flight.

import * as node from 'node:fs/promises';
import { readRegularText } from '../../local/machine/regular-file.ts';

/** A part of node:fs/promises' FileHandle. */
export interface OpenFile {
  writeFile(content: string | Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** As in node:fs/promises, where nothing else is said. */
export interface FileLayer {
  open(path: string, flags: 'r' | 'wx'): Promise<OpenFile>;
  /** The text of a regular file. */
  readFile(path: string): Promise<string>;
  stat(
    path: string,
  ): Promise<{ readonly dev: number; readonly ino: number; readonly size: number; readonly mtimeMs: number }>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string): Promise<unknown>;
  rmdir(path: string): Promise<void>;
}

export const NODE_FILES: FileLayer = { ...node, readFile: readRegularText };

/** Node reads and writes four at a time; more open files gain nothing and may exceed the system's limit. */
const PLACES = 64;
let free = PLACES;
const waiting: (() => void)[] = [];

/** Runs `use` once a place is free. `use` must not request another place (deadlock). */
export async function withPlace<T>(use: () => Promise<T>): Promise<T> {
  if (free > 0) free--;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await use();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}
