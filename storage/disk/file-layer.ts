// The file system as the store uses it: Node's own, or what a test puts in its place to let the disk be full, slow or
// broken. And the places for open files: however many rollouts are in flight, few files are open at once.

import * as node from 'node:fs/promises';

/** A part of node:fs/promises' FileHandle. */
export interface OpenFile {
  writeFile(content: string | Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** As node:fs/promises has them. */
export interface FileLayer {
  open(path: string, flags: 'r' | 'wx'): Promise<OpenFile>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  stat(
    path: string,
  ): Promise<{ readonly dev: number; readonly ino: number; readonly size: number; readonly mtimeMs: number }>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string): Promise<unknown>;
  rmdir(path: string): Promise<void>;
}

export const NODE_FILES: FileLayer = node;

/** Node reads and writes four at a time; more open files gain nothing and may be more than the system allows. */
const PLACES = 64;
let free = PLACES;
const waiting: (() => void)[] = [];

/** Runs `use` when one of the places is free. What it does must not ask for a place again. */
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
