// A disk that loses its power: the part that a store is given in place of Node's own files. It works on a real folder, and
// knows of each file's content and of each folder's names what was synced. `afterCut` makes the folder that a machine finds
// when it comes back: what was synced, and of the rest any part, each by itself: names that came or went or not, contents
// whole, empty, cut or zeros. So it is harsher than a file system with a journal, which keeps an order.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BLOCKING_FILES } from '../../records/disk/blocking-files.ts';
import type { FileLayer } from '../../records/disk/file-layer.ts';

export class PowerCut extends Error {}

interface Inode {
  content: Buffer;
  synced: Buffer | null;
}
type Entry = Inode | 'folder';
interface Folder {
  readonly synced: Map<string, Entry>;
  readonly now: Map<string, Entry>;
  /** Changes since it was synced, in order; each happens as a whole. */
  pending: ((entries: Map<string, Entry>) => void)[];
}

export interface PowerDisk {
  readonly layer: FileLayer;
  /** Calls so far. */
  readonly calls: () => number;
  readonly isOn: () => boolean;
  afterCut(to: string): void;
}

/** What is in `root` now is durable. After `lives` calls every call fails. */
export function powerDisk(root: string, lives: number, random: () => number): PowerDisk {
  const folders = new Map<string, Folder>();
  const load = (path: string): void => {
    const entries = new Map<string, Entry>();
    for (const name of readdirSync(path)) {
      const inner = join(path, name);
      if (statSync(inner).isDirectory()) {
        entries.set(name, 'folder');
        load(inner);
      } else {
        const content = readFileSync(inner);
        entries.set(name, { content, synced: content });
      }
    }
    folders.set(path, { synced: new Map(entries), now: entries, pending: [] });
  };
  load(root);

  let calls = 0;
  async function alive<T>(call: () => Promise<T>): Promise<T> {
    if (++calls > lives) throw new PowerCut();
    // Several writers take turns in any order, and one of them may stop for long.
    for (let n = random() < 0.05 ? 40 : Math.floor(random() * 3); n > 0; n--) await new Promise(setImmediate);
    return call();
  }
  function change(path: string, apply: (entries: Map<string, Entry>, name: string) => void): void {
    const folder = folders.get(dirname(path))!;
    const one = (entries: Map<string, Entry>) => apply(entries, basename(path));
    one(folder.now);
    folder.pending.push(one);
  }
  const entryAt = (path: string) => folders.get(dirname(path))!.now.get(basename(path)) as Inode;

  const layer: FileLayer = {
    ...BLOCKING_FILES,
    async open(path, flags) {
      const file = await alive(() => BLOCKING_FILES.open(path, flags));
      if (flags === 'r' && folders.has(path)) {
        const sync = async () => {
          const folder = folders.get(path)!;
          folder.synced.clear();
          for (const [name, entry] of folder.now) folder.synced.set(name, entry);
          folder.pending = [];
        };
        return { ...file, sync: () => alive(sync) };
      }
      if (flags === 'wx') {
        const fresh: Inode = { content: Buffer.alloc(0), synced: null };
        change(path, (entries, name) => entries.set(name, fresh));
      }
      const inode = entryAt(path);
      return {
        async writeFile(content) {
          await alive(() => file.writeFile(content));
          inode.content = Buffer.concat([inode.content, Buffer.from(content)]);
        },
        async sync() {
          await alive(async () => undefined);
          inode.synced = inode.content;
        },
        close: () => file.close(),
      };
    },
    async link(from, to) {
      await alive(() => BLOCKING_FILES.link(from, to));
      const inode = entryAt(from);
      change(to, (entries, name) => entries.set(name, inode));
    },
    async rename(from, to) {
      await alive(() => BLOCKING_FILES.rename(from, to));
      const inode = entryAt(from);
      const before = basename(from);
      change(to, (entries, name) => (entries.delete(before), entries.set(name, inode)));
    },
    async unlink(path) {
      await alive(() => BLOCKING_FILES.unlink(path));
      change(path, (entries, name) => entries.delete(name));
    },
    async mkdir(path) {
      await alive(() => BLOCKING_FILES.mkdir(path));
      folders.set(path, { synced: new Map(), now: new Map(), pending: [] });
      change(path, (entries, name) => entries.set(name, 'folder'));
    },
    async rmdir(path) {
      await alive(() => BLOCKING_FILES.rmdir(path));
      change(path, (entries, name) => entries.delete(name));
    },
  };

  /** Of all of what was not synced: nothing, all, or any part. */
  const part = [0, 1, 0.5][Math.floor(random() * 3)]!;
  const survives = () => random() < part;
  function contentOf({ content, synced }: Inode): Buffer {
    if (synced === content || survives()) return content;
    if (synced) return synced;
    const kind = Math.floor(random() * 3);
    if (kind === 0) return Buffer.alloc(0);
    return kind === 1 ? content.subarray(0, Math.floor(random() * content.length)) : Buffer.alloc(content.length);
  }
  function make(path: string, to: string): void {
    mkdirSync(to, { recursive: true });
    const { synced, pending } = folders.get(path)!;
    const entries = new Map(synced);
    for (const apply of pending) if (survives()) apply(entries);
    for (const [name, entry] of entries) {
      if (entry === 'folder') make(join(path, name), join(to, name));
      else writeFileSync(join(to, name), contentOf(entry));
    }
  }
  return { layer, calls: () => calls, isOn: () => calls <= lives, afterCut: (to) => make(root, to) };
}
