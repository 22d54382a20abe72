// The file interface of a store, for each place: few calls, each a complete step, so that threads can perform them
// (threaded-disk.ts). Every failure is a StoreError that names the file.

import { type FileLayer, NODE_FILES } from '../disk/file-layer.ts';
import { endRollout } from '../ended/end.ts';
import type { EndedId } from '../ended/places.ts';
import type { Place } from '../place.ts';
import { openPlaces } from '../places/files.ts';

export interface Disk extends Pick<Place, 'read' | 'isThere' | 'writeOnce' | 'writeBeside' | 'draft' | 'settle'> {
  /** The text of `other`, if one is named, and after that the identity of `path`; undefined for what does not exist. */
  look(path: string, other: string | null): Promise<Look>;
  /** The last step of a rollout. `hasLine`: it was done before, and what is left of its files goes. */
  end(runFolder: string, id: EndedId, hasLine: boolean): Promise<void>;
}

export interface Look {
  /** Changes when a file is removed and created again. */
  readonly identity: string | undefined;
  readonly text: string | undefined;
}

/** `layer`: the file-system calls to use. */
export function openDisk(layer: FileLayer = NODE_FILES): Disk {
  const placeOf = openPlaces(layer);
  return {
    read: (path) => placeOf(path).read(path),
    async look(path, other) {
      const text = other === null ? undefined : await placeOf(other).read(other);
      return { identity: await placeOf(path).identity(path), text };
    },
    isThere: (path) => placeOf(path).isThere(path),
    writeOnce: (path, text) => placeOf(path).writeOnce(path, text),
    writeBeside: (base, path, text) => placeOf(base).writeBeside(base, path, text),
    draft: (path, text) => placeOf(path).draft(path, text),
    settle: (path, text) => placeOf(path).settle(path, text),
    end: (folder, id, hasLine) => endRollout(placeOf(folder), folder, id, hasLine),
  };
}
