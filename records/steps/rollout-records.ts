// The records of a run's rollouts, in flight or ended: files of the rollout's folder while it plays, and after that parts of
// its line. A rollout may end while it is looked for, so what is not in one place is looked for in the other before it is
// absent; a rollout that has ended takes no further record.

import { StoreError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Disk } from './disk.ts';
import { recordError } from '../disk/errors.ts';
import { placeOf, removeFile } from '../places/files.ts';
import { ALONE, decodeFile, openRecordFiles } from '../disk/record-files.ts';
import type { Ended } from '../ended/ended.ts';
import type { EndedRollout } from '../ended/line.ts';
import type { RecordKind } from '../format/kinds.ts';
import { rolloutFolder } from '../format/layout.ts';
import type { Stored, Owner } from '../format/text.ts';
import type { KeptRecords, RecordCache } from '../in-flight/cache.ts';
import { unlessTorn } from '../in-flight/torn.ts';
import { join } from '../place.ts';
import { ROLLOUT_FILE } from '../format/rollout-file.ts';

export interface RolloutRecords {
  get<T extends object>(kind: RecordKind, id: RolloutId, file: string): Promise<Stored<T> | undefined>;
  put<T extends object>(kind: RecordKind, id: RolloutId, file: string, record: T): Promise<Stored<T>>;
  /** The folder of a rollout in flight. */
  folderOf(id: RolloutId): string;
}

export function openRolloutRecords(folder: string, ended: Ended, disk: Disk, cache?: RecordCache): RolloutRecords {
  const folderOf = openFolderNames(folder);
  const files = openRecordFiles(disk);
  const cached = openKept(disk, cache);

  async function inLine<T extends object>(kind: RecordKind, id: RolloutId, file: string): Promise<Stored<T>> {
    const line = await ended.rollout(id);
    const stored = line && recordInLine<T>(kind, line, file, ended);
    if (stored) return stored;
    throw new StoreError(`${join(folderOf(id), file)} is not written: its rollout has ended`, {
      reason: 'rollout-ended',
    });
  }

  /** `sure`: if it is not there, it is in no line either. */
  async function getLoose<T extends object>(kind: RecordKind, id: RolloutId, file: string) {
    const rollout = folderOf(id);
    const path = join(rollout, file);
    const { kept, looked } = await cached.lookFor(rollout, file);
    const remembered = kept?.get(file);
    if (remembered) return { stored: remembered as Stored<T>, sure: true };
    const load = async () =>
      looked ? decodeFile<T>(kind, ownerOf(id), path, looked.text) : files.load<T>(kind, ownerOf(id), path);
    const loaded = await unlessTorn(rollout, file, load());
    if (loaded) kept?.keep(file, loaded.stored, loaded.bytes);
    if (loaded) return { stored: loaded.stored, sure: true };
    // The first file of an ended rollout goes first: while that is there, nothing has gone.
    const sure = file !== ROLLOUT_FILE && (await disk.isThere(join(rollout, ROLLOUT_FILE)));
    return { stored: undefined, sure };
  }

  /** Undefined for a rollout that has ended. */
  async function writeLoose<T extends object>(kind: RecordKind, id: RolloutId, file: string, record: T) {
    const rollout = folderOf(id);
    const path = join(rollout, file);
    let base = file === ROLLOUT_FILE ? null : join(rollout, ROLLOUT_FILE);
    for (;;) {
      const written = await unlessTorn(rollout, file, files.write(kind, ownerOf(id), path, record, base));
      if (written === undefined) await placeOf(path).moveAside(path);
      else if (typeof written !== 'symbol') return written;
      else if (await ended.look(id)) return undefined;
      else if (written === ALONE) base = null;
    }
  }

  return {
    folderOf,
    async get(kind, id, file) {
      // Once, unless the rollout ends in this very moment.
      for (;;) {
        const line = await ended.rollout(id);
        if (line) return recordInLine(kind, line, file, ended);
        const { stored, sure } = await getLoose<never>(kind, id, file);
        if (stored || sure || !(await ended.look(id))) return stored;
      }
    },
    async put(kind, id, file, record) {
      const isFirst = file === ROLLOUT_FILE;
      if (isFirst && (await ended.look(id))) return inLine(kind, id, file);
      const written = await writeLoose(kind, id, file, record);
      if (!written) return inLine(kind, id, file);
      const { stored, bytes } = written;
      if (isFirst && stored.created && (await ended.look(id))) {
        // It ended between the two looks, and its first file had just gone.
        await removeFile(join(folderOf(id), file));
        return inLine(kind, id, file);
      }
      (await cached.keptOf(folderOf(id)))?.keep(file, stored, bytes);
      return stored;
    },
  };
}

interface Kept {
  readonly kept: KeptRecords | undefined;
  /** The text of the file, if it was read at the same time. */
  readonly looked?: { readonly text: string | undefined };
}

/** The records that the cache has of rollouts whose folder was examined: once in the life of a store. */
function openKept(disk: Disk, cache: RecordCache | undefined) {
  const byFolder = new Map<string, KeptRecords>();

  /** Reads one file of a rollout, and after that the identity of its folder, in a single call. */
  async function look(rollout: string, file: string | null) {
    const { identity, text } = await disk.look(join(rollout, ROLLOUT_FILE), file && join(rollout, file));
    const kept = cache?.of(rollout, identity);
    if (kept) byFolder.set(rollout, kept);
    return { kept, text };
  }

  return {
    async lookFor(rollout: string, file: string): Promise<Kept> {
      const examined = byFolder.get(rollout);
      if (examined || !cache) return { kept: examined };
      const isUnknown = !cache.has(rollout, file);
      const { kept, text } = await look(rollout, isUnknown ? file : null);
      return { kept, ...(isUnknown && { looked: { text } }) };
    },
    async keptOf(rollout: string): Promise<KeptRecords | undefined> {
      return byFolder.get(rollout) ?? (cache && (await look(rollout, null)).kept);
    },
  };
}

/** The name takes two hashes, and the same rollout is requested several times in a row. */
function openFolderNames(folder: string): (id: RolloutId) => string {
  let last: { readonly id: RolloutId; readonly folder: string } | undefined;
  return (id) => {
    if (last?.id !== id) last = { id, folder: join(folder, rolloutFolder(id)) };
    return last.folder;
  };
}

const ownerOf = ({ query, sample, attempt }: RolloutId): Owner => ({ query, sample, attempt });

function recordInLine<T extends object>(
  kind: RecordKind,
  { of, records }: EndedRollout,
  file: string,
  ended: Ended,
): Stored<T> | undefined {
  const opened = records.get(file)?.open();
  if (!opened) return undefined;
  if ('problem' in opened) throw recordError(`${ended.lineOf(of)}: ${rolloutFolder(of)}/${file}`, opened.problem);
  return { record: opened.record as T, hash: opened.hash, created: false };
}
