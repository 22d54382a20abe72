// The loose files of packed rollouts: each is removed only if it equals its packed twin, a rollout's first record first
// (readers then look for the pack) and its end last. A file that differs is reported
// and stays.

import { rmdir } from 'node:fs/promises';
import { inBucket } from '../bucket/files.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { readText } from '../disk/write-once.ts';
import { join } from '../place.ts';
import {
  ANSWERS,
  END_FILE,
  isHarmless,
  LOG_KINDS,
  logPath,
  ROLLOUT_FILE,
  rolloutFolder,
  ROLLOUTS,
} from '../record/layout.ts';
import { foldersIn, namesIn, removeOldTemporaries, rolloutFolders } from '../record/listing.ts';
import { logName } from '../../domain/turn-log.ts';
import type { PackedId } from './manifest.ts';
import type { Packs } from './packs.ts';

export type Report = (path: string, problem: string) => void;
export const DIFFERS = 'is not what its pack holds';

/** Of these rollouts, just packed; or of all. */
export async function removeTwins(
  folder: string,
  packs: Packs,
  layer: FileLayer,
  report: Report,
  ids?: readonly PackedId[],
): Promise<void> {
  for (const id of ids ?? (await loosePacked(folder, packs))) await removeRollout(folder, id, packs, layer, report);
  // Of unpackers and workers that were killed.
  if (!ids) for (const version of await versions(folder)) await removeOldTemporaries(join(folder, ANSWERS, version));
  const logs = ids ? await logsOf(folder, ids) : await looseLogs(folder);
  for (const path of logs) {
    const twin = await packs.log(path);
    const text = twin === undefined ? undefined : await readText(join(folder, path));
    if (text === undefined) continue;
    // A worker that was thought dead may have written an earlier state.
    if (twin!.startsWith(text)) await remove(join(folder, path), layer).catch(() => {});
    else report(path, DIFFERS);
  }
}

async function removeRollout(
  folder: string,
  id: PackedId,
  packs: Packs,
  layer: FileLayer,
  report: Report,
): Promise<void> {
  const root = join(folder, rolloutFolder(id));
  const names = (await namesIn(root)).filter((name) => !isHarmless(name));
  const lines = names.length > 0 ? await packs.lines(id) : undefined;
  const texts = await Promise.all(names.map((name) => readText(join(root, name))));
  const differs = names.filter((name, i) => texts[i] !== undefined && lines?.get(name)?.text !== texts[i]);
  for (const name of differs) report(`${rolloutFolder(id)}/${name}`, DIFFERS);
  if (differs.length > 0) return;
  const order = (name: string) => (name === ROLLOUT_FILE ? 0 : name === END_FILE ? 2 : 1);
  for (const name of names.toSorted((a, b) => order(a) - order(b))) await remove(join(root, name), layer);
  if (inBucket(root)) return;
  await removeOldTemporaries(root);
  await layer.rmdir(root).catch(() => {});
}

/** Of a disk through the layer, which may be a test's. */
export const remove = async (path: string, layer: Pick<FileLayer, 'unlink'>): Promise<void> =>
  inBucket(path)?.remove() ?? layer.unlink(path);

/** Of shards, queries, rollouts and versions. */
export async function removeEmptyFolders(folder: string): Promise<void> {
  if (inBucket(folder)) return;
  const removeAt = async (path: string, depth: number): Promise<void> => {
    if (depth > 0) for (const inner of await foldersIn(folder, path, () => {})) await removeAt(inner, depth - 1);
    await rmdir(join(folder, path)).catch(() => {});
  };
  await removeAt(ROLLOUTS, 3);
  await removeAt(ANSWERS, 1);
}

/** Packed rollouts of which something is still loose. */
export async function loosePacked(folder: string, packs: Packs): Promise<PackedId[]> {
  if (isEmpty(packs)) return [];
  const loose: PackedId[] = [];
  const byFolder = new Map<string, PackedId>();
  for await (const path of rolloutFolders(folder, () => {})) {
    if (byFolder.size === 0) for (const id of packs.ids()) byFolder.set(rolloutFolder(id), id);
    const id = byFolder.get(path);
    if (id) loose.push(id);
  }
  return loose;
}

const isEmpty = (packs: Packs): boolean => [...take(packs.ids(), 1)].length === 0;

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

export async function versions(folder: string): Promise<string[]> {
  return (await foldersIn(folder, ANSWERS, () => {})).map((path) => path.slice(ANSWERS.length + 1));
}

async function logsOf(folder: string, ids: readonly PackedId[]): Promise<string[]> {
  const known = (await versions(folder)).map(Number).filter(Number.isSafeInteger);
  return ids.flatMap((id) => known.flatMap((v) => LOG_KINDS.map((kind) => logPath(v, logName(id), kind))));
}

export async function looseLogs(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const version of await versions(folder)) {
    const names = await namesIn(join(folder, ANSWERS, version));
    paths.push(...names.filter((name) => !isHarmless(name)).map((name) => `${ANSWERS}/${version}/${name}`));
  }
  return paths;
}
