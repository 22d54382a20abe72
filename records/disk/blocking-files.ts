// Blocking file calls, for a thread that does nothing else. They take a third of the processor time of asynchronous ones,
// because none goes through libuv's pool. Only fsync stays asynchronous, many at a time.

import {
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readRegular } from '../../local/machine/regular-file.ts';
import { type FileLayer, NODE_FILES, type OpenFile } from './file-layer.ts';

/** For a process that only reads small files: they are in the page cache, or its reader waits for them anyway. */
export const BLOCKING_READS: FileLayer = {
  ...NODE_FILES,
  readFile: async (path) => readRegular(path),
};

export const BLOCKING_FILES: FileLayer = {
  open: async (path, flags) => blockingFile(openSync(path, flags)),
  readFile: async (path) => readRegular(path),
  stat: async (path) => statSync(path),
  link: async (from, to) => linkSync(from, to),
  rename: async (from, to) => renameSync(from, to),
  unlink: async (path) => unlinkSync(path),
  mkdir: async (path) => mkdirSync(path),
  rmdir: async (path) => rmdirSync(path),
};

function blockingFile(fd: number): OpenFile {
  return {
    writeFile: async (content) => writeFileSync(fd, content),
    sync: () => new Promise((resolve, reject) => fsync(fd, (error) => (error ? reject(error) : resolve()))),
    close: async () => closeSync(fd),
  };
}
