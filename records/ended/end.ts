// The last step of a rollout: its records become one line, durably, and then its files go. The line is made of the files
// alone, so any worker may do this step at any time, and again: a rollout that was written twice has two equal lines. A
// rollout with a record that is damaged stays as it is, since its files are evidence.

import { ENDED, endedObject, rolloutFolder } from '../format/layout.ts';
import { parseRolloutFile, ROLLOUT_FILE } from '../format/rollout-file.ts';
import { join, type Place } from '../place.ts';
import { lineOf, openLine } from './line.ts';
import type { EndedId } from './places.ts';
import { endedRow } from './row.ts';
import { indexLine } from './segment.ts';

/** `hasLine`: what is left of its files goes, too, if they are not all there. */
export async function endRollout(place: Place, folder: string, of: EndedId, hasLine: boolean): Promise<void> {
  const id = { query: of.query, sample: of.sample, attempt: of.attempt };
  const root = join(folder, rolloutFolder(id));
  const texts = await recordsIn(place, root);
  // Another worker does it, or did it and was killed.
  if (!texts) return hasLine ? removeRecords(place, root) : undefined;
  const line = lineOf(id, texts);
  if ('problem' in line) return;
  const row = endedRow(openLine(line)!);
  const entryAt = (at: number) => indexLine({ at, bytes: line.length, ...row });
  await place.append(join(folder, ENDED), join(folder, endedObject(id)), { line, entryAt });
  await removeRecords(place, root);
}

/** The records of a rollout; undefined if another worker is removing them. */
async function recordsIn(place: Place, root: string): Promise<ReadonlyMap<string, string> | undefined> {
  const others = (await recordNames(place, root)).filter((name) => name !== ROLLOUT_FILE);
  const read = async (name: string) => [name, await place.read(join(root, name))] as const;
  const texts = await Promise.all(others.map(read));
  // It goes first: while it is there, all that was listed has been read.
  texts.unshift(await read(ROLLOUT_FILE));
  const there = texts.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return there.length === texts.length ? new Map(there) : undefined;
}

async function recordNames(place: Place, root: string): Promise<string[]> {
  const { files } = await place.list(root);
  return files.filter((name) => !['harmless', 'foreign'].includes(parseRolloutFile(name).kind)).toSorted();
}

/** The folders of the rollout, its query and its shard. */
const LEVELS = 3;

/** Removes the files of a rollout that has a line: what its writers left is in it, or was written after the end. */
export async function removeRecords(place: Place, root: string): Promise<void> {
  const names = await recordNames(place, root);
  // Without its first record, readers and writers look for the line: nothing else goes before it, and no power cut brings it
  // back alone.
  const isFirst = (name: string) => name === ROLLOUT_FILE;
  await place.removeAll(root, [...names.filter(isFirst), ...names.filter((name) => !isFirst(name))], LEVELS);
}
