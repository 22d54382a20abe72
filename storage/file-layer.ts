// The file system as the store uses it: Node's own, or what a test puts in its place to let the disk be full, slow or
// broken. And the places for open files: however many rollouts are in flight, few files are open at once.

import * as node from 'node:fs/promises';

export type FileLayer = Pick<
  typeof node,
  'link' | 'mkdir' | 'open' | 'readFile' | 'rename' | 'rmdir' | 'stat' | 'unlink'
>;

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
