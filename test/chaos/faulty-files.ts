// A file system that fails as it is told: the part that a store is given in place of Node's own files. Faults are by
// call, come and go while a run is played, and hit reading as little as a real disk would.

import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLayer, NODE_FILES } from '../../records/disk/file-layer.ts';

export interface FaultyFiles {
  readonly layer: FileLayer;
  /** From now on; null for none. `EMFILE` beyond a number of open files, whatever else. */
  fault: { readonly code: string; readonly on: readonly (keyof FileLayer | 'write' | 'sync')[] } | null;
  /** Part of the calls that a fault hits. */
  part: number;
  syncMs: number;
  readonly told: { hits: number; open: number; mostOpen: number };
}

export function faultyFiles(random: () => number, maxOpen = Infinity): FaultyFiles {
  const files: FaultyFiles = {
    fault: null,
    part: 1,
    syncMs: 0,
    told: { hits: 0, open: 0, mostOpen: 0 },
    layer: {
      ...NODE_FILES,
      open: async (path, flags) => {
        if (flags !== 'r') strike('open');
        const count = () => (files.told.mostOpen = Math.max(files.told.mostOpen, ++files.told.open));
        if (count() > maxOpen) {
          files.told.open--;
          throw failure('EMFILE');
        }
        const file = await NODE_FILES.open(path, flags).catch((error: unknown) => {
          files.told.open--;
          throw error;
        });
        return {
          writeFile: async (content) => {
            strike('write');
            await file.writeFile(content);
          },
          sync: async () => {
            strike('sync');
            if (files.syncMs > 0) await sleep(files.syncMs);
            await file.sync();
          },
          close: () => {
            files.told.open--;
            return file.close();
          },
        };
      },
      link: async (from, to) => {
        strike('link');
        await NODE_FILES.link(from, to);
      },
      rename: async (from, to) => {
        strike('rename');
        await NODE_FILES.rename(from, to);
      },
      mkdir: async (path) => {
        strike('mkdir');
        await NODE_FILES.mkdir(path);
      },
    },
  };
  function strike(call: keyof FileLayer | 'write' | 'sync'): void {
    if (!files.fault?.on.includes(call) || random() > files.part) return;
    files.told.hits++;
    throw failure(files.fault.code);
  }
  return files;
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: planted`), { code });
}
