// The file interface of a store, for a disk and for a bucket: few calls, each a complete step, so that threads can perform them
// (threaded-disk.ts). Every failure is a StoreError that names the file.

import { dirname } from 'node:path';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { endingsOf } from '../ended/end.ts';
import type { EndedId } from '../ended/places.ts';
import { codeOf, fileError } from './errors.ts';
import { factsOf } from './facts.ts';
import { type FileLayer, NODE_FILES, withPlace } from './file-layer.ts';
import { readText, writeBeside, writeOnce, replaceDraft, replaceFile, syncFolder } from './write-once.ts';
import { inBucket } from '../bucket/files.ts';

export interface Disk {
  /** The file's text; undefined when there is none. */
  read(path: string): Promise<string | undefined>;
  /**
   * The text of `other`, if one is named, and after that the identity of `path`; undefined for what does not exist. In a
   * bucket the identity may be some seconds old.
   */
  look(path: string, other: string | null): Promise<Look>;
  /** Now, also in a bucket. */
  isThere(path: string): Promise<boolean>;
  /** True if this call created the file, false if it existed already (it is unchanged). Durable on return. */
  writeOnce(path: string, text: string): Promise<boolean>;
  /** The same beside a file that must be there, before and after; else this call leaves nothing. */
  writeBeside(base: string, path: string, text: string): Promise<'created' | 'exists' | 'alone'>;
  /** Makes the file begin with the text; the change need not survive a power cut. */
  draft(path: string, text: string): Promise<void>;
  /** As draft, and durable on return. */
  settle(path: string, text: string): Promise<void>;
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
  const seen = openSeen(async (path) => (await factsOf(path))?.identity);
  return {
    read: (path) => readText(path, layer),
    async look(path, other) {
      const text = other === null ? undefined : await readText(other, layer);
      return { identity: await identityOf(path, layer, seen), text };
    },
    async isThere(path) {
      seen.forget(path);
      return (await identityOf(path, layer, seen)) !== undefined;
    },
    writeOnce: (path, text) => writeOnce(path, text, layer),
    async writeBeside(base, path, text) {
      // The look before saves a write in vain, and may be of a moment ago; the one after is what counts.
      if (isBucketPlace(base) && (await seen.identity(base)) === undefined) return 'alone';
      const how = await writeBeside(base, path, text, layer);
      if (how === 'alone') seen.forget(base);
      return how;
    },
    draft: (path, text) => draftFile(path, text, layer),
    settle: (path, text) => settleFile(path, text, layer),
    end: endingsOf(layer).end,
  };
}

async function identityOf(path: string, layer: FileLayer, seen: Seen): Promise<string | undefined> {
  if (isBucketPlace(path)) return seen.identity(path);
  try {
    const { dev, ino, size, mtimeMs } = await layer.stat(path);
    return `${dev} ${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

/** Makes the file begin with the text. */
async function draftFile(path: string, text: string, layer: FileLayer): Promise<void> {
  // In a bucket, where each write is a request, a log appears at its rollout's end.
  if (inBucket(path)) return;
  const present = await readText(path, layer);
  if (!present?.startsWith(text)) await replaceDraft(path, text, layer);
}

/** As draftFile, and the content then survives a power cut. */
async function settleFile(path: string, text: string, layer: FileLayer): Promise<void> {
  const there = inBucket(path);
  // Nearly always the first: then no other state of it is overwritten.
  if (there && (await there.writeOnce(text))) return;
  const present = await readText(path, layer);
  if (!present?.startsWith(text)) return replaceFile(path, text, layer);
  if (there) return;
  try {
    await withPlace(async () => {
      const file = await layer.open(path, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      await syncFolder(dirname(path), layer);
    });
  } catch (error) {
    throw fileError('write', path, error);
  }
}

interface Seen {
  /** Undefined where there is none. */
  identity(path: string): Promise<string | undefined>;
  forget(path: string): void;
}

const SEEN_FOR_MS = 10_000;
const MOST = 10_000;

function openSeen(look: (path: string) => Promise<string | undefined>): Seen {
  const known = new Map<string, { readonly identity: string; readonly at: number }>();
  return {
    async identity(path) {
      const found = known.get(path);
      if (found && performance.now() - found.at < SEEN_FOR_MS) return found.identity;
      const identity = await look(path);
      if (known.size >= MOST) known.clear();
      if (identity === undefined) known.delete(path);
      else known.set(path, { identity, at: performance.now() });
      return identity;
    },
    forget: (path) => void known.delete(path),
  };
}
