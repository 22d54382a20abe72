// The last step of a rollout: its records become one line, durably, and then its files go. The line is made of the files
// alone, so any worker may do this step at any time, and again: a rollout that was written twice has two equal lines. A
// rollout with a record that is damaged stays as it is, since its files are evidence.

import { inBucket } from '../bucket/files.ts';
import { codeOf, fileError } from '../disk/errors.ts';
import { removeFile } from '../disk/facts.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { readText, syncFolder } from '../disk/write-once.ts';
import { dirname, join } from '../place.ts';
import { endedObject, rolloutFolder } from '../format/layout.ts';
import { namesIn, removeOldTemporaries } from '../in-flight/listing.ts';
import { endedRow } from './row.ts';
import { lineOf, openLine } from './line.ts';
import type { EndedId } from './places.ts';
import { openSegmentWriter, type SegmentWriter } from './segment-writer.ts';
import { parseRolloutFile, ROLLOUT_FILE } from '../format/rollout-file.ts';

export interface Endings {
  /** `hasLine`: what is left of its files goes, too, if they are not all there. */
  end(folder: string, id: EndedId, hasLine: boolean): Promise<void>;
}

/** Runs whose segment is open. */
const MOST_OPEN = 16;

/** One for all disks of this thread: a segment is of a thread, however many stores it opens. */
export function endingsOf(layer: FileLayer): Endings {
  const endings = known.get(layer) ?? openEndings(layer);
  known.set(layer, endings);
  return endings;
}
const known = new WeakMap<FileLayer, Endings>();

function openEndings(layer: FileLayer): Endings {
  const writers = new Map<string, SegmentWriter>();

  function writerOf(folder: string): SegmentWriter {
    const writer = writers.get(folder) ?? openSegmentWriter(folder, layer);
    writers.delete(folder);
    writers.set(folder, writer);
    for (const [oldest, other] of writers) {
      if (writers.size <= MOST_OPEN) break;
      writers.delete(oldest);
      void other.close();
    }
    return writer;
  }

  return {
    async end(folder, { query, sample, attempt }, hasLine) {
      const id = { query, sample, attempt };
      const root = join(folder, rolloutFolder(id));
      const texts = await recordsIn(root, layer);
      // Another worker does it, or did it and was killed.
      if (!texts) return hasLine ? removeRecords(root, layer) : undefined;
      const line = lineOf(id, texts);
      if ('problem' in line) return;
      const object = inBucket(join(folder, endedObject(id)));
      if (object) await object.writeOnce(line);
      else await writerOf(folder).add(line, endedRow(openLine(line)!));
      await removeRecords(root, layer);
    },
  };
}

/** The records of a rollout; undefined if another worker is removing them. */
async function recordsIn(root: string, layer: FileLayer): Promise<ReadonlyMap<string, string> | undefined> {
  const names = await recordNames(root);
  const others = names.filter((name) => name !== ROLLOUT_FILE);
  const read = async (name: string) => [name, await readText(join(root, name), layer)] as const;
  const texts = await Promise.all(others.map(read));
  // It goes first: while it is there, all that was listed has been read.
  texts.unshift(await read(ROLLOUT_FILE));
  const there = texts.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return there.length === texts.length ? new Map(there) : undefined;
}

const recordNames = async (root: string): Promise<string[]> =>
  (await namesIn(root)).filter((name) => !['harmless', 'foreign'].includes(parseRolloutFile(name).kind));

/** Removes the files of a rollout that has a line: what its writers left is in it, or was written after the end. */
export async function removeRecords(root: string, layer: FileLayer): Promise<void> {
  const names = await recordNames(root);
  const remove = async (name: string): Promise<void> => {
    if (inBucket(root)) return removeFile(join(root, name));
    await layer.unlink(join(root, name)).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw fileError('remove', join(root, name), error);
    });
  };
  // Without it, readers and writers look for the line: nothing else goes before it, and no power cut brings it back alone.
  if (names.includes(ROLLOUT_FILE)) await remove(ROLLOUT_FILE);
  if (!inBucket(root) && names.length > 0) await syncFolder(root, layer);
  await Promise.all(names.filter((name) => name !== ROLLOUT_FILE).map(remove));
  if (inBucket(root)) return;
  await removeOldTemporaries(root);
  // The folders of the rollout, its query and its shard go; one that is not empty stays, with those above it.
  for (let path = root, level = 0; level < 3; level++, path = dirname(path)) {
    try {
      await layer.rmdir(path);
    } catch {
      return;
    }
  }
}
