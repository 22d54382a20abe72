// The content of a run's folder: its rollouts, found without any other record, and foreign files.

import { readdir, stat, unlink } from 'node:fs/promises';
import { explain } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { mapAhead, readAhead } from '../map-ahead.ts';
import { type BucketFiles, inBucket } from '../bucket/files.ts';
import { isOlderThan } from '../disk/clock.ts';
import { codeOf, fileError } from '../disk/errors.ts';
import { removeFile } from '../disk/facts.ts';
import { NODE_FILES } from '../disk/file-layer.ts';
import { isTemporary, isOfDeadWriter } from '../disk/writer.ts';
import { join } from '../place.ts';
import * as layout from '../format/layout.ts';
import { decodeRecord, type OnBreach } from '../format/text.ts';
import { readText } from '../disk/write-once.ts';
import { parseRolloutFile, ROLLOUT_FILE } from '../format/rollout-file.ts';

/** Every rollout that has begun, folder by folder. */
export async function* listRollouts(folder: string, run: string, onBreach: OnBreach): AsyncGenerator<RolloutId> {
  const found = mapAhead(rolloutFolders(folder, onBreach), readAhead(folder), (path) =>
    rolloutAt(folder, path, onBreach),
  );
  for await (const id of found) if (id) yield { run, ...id };
}

/** Paths of the folders of rollouts, whatever is in them. */
export async function* rolloutFolders(folder: string, onBreach: OnBreach): AsyncGenerator<string> {
  const there = inBucket(join(folder, layout.ROLLOUTS));
  if (there) return yield* foldersOfObjects(there, onBreach);
  for (const shard of await foldersIn(folder, layout.ROLLOUTS, onBreach)) {
    if (!isShard(shard)) onBreach({ path: shard, problem: FOREIGN });
    else for (const query of await foldersIn(folder, shard, onBreach)) yield* await foldersIn(folder, query, onBreach);
  }
}

/** The same of a bucket by one listing of everything: a page of it names a thousand objects. */
async function* foldersOfObjects(there: BucketFiles, onBreach: OnBreach): AsyncGenerator<string> {
  let last = '';
  const foreign = new Set<string>();
  for await (const { name } of there.all()) {
    const parts = name.split('/');
    if (parts.some((part) => layout.isHarmless(part))) continue;
    const [shard = '', query, rollout] = parts;
    const path = `${layout.ROLLOUTS}/${name}`;
    const bad = isShard(`/${shard}`) ? (parts.length < 4 ? path : undefined) : `${layout.ROLLOUTS}/${shard}`;
    if (bad !== undefined) {
      if (!foreign.has(bad)) onBreach({ path: bad, problem: FOREIGN });
      foreign.add(bad);
      continue;
    }
    const found = `${layout.ROLLOUTS}/${shard}/${query}/${rollout}`;
    // Keys are in the order of their bytes: those of one folder follow each other.
    if (found !== last) yield found;
    last = found;
  }
}

const isShard = (path: string): boolean => /\/[0-9a-f]{2}$/.test(path);

export async function listRolloutsOf(folder: string, run: string, query: string): Promise<RolloutId[]> {
  const paths = await foldersIn(folder, layout.queryFolder(query), () => {});
  return paths
    .flatMap((path) => {
      const place = layout.parseRolloutFolder(lastOf(path));
      return place ? [{ run, query, ...place }] : [];
    })
    .sort((a, b) => a.sample - b.sample || a.attempt - b.attempt);
}

export const FOREIGN = 'is not of this run';

/** The rollout of a folder; undefined if it has not begun or its first record cannot be read. */
export async function rolloutAt(
  folder: string,
  path: string,
  onBreach: OnBreach,
): Promise<Omit<RolloutId, 'run'> | undefined> {
  const place = layout.parseRolloutFolder(lastOf(path));
  if (!place) return void onBreach({ path, problem: FOREIGN });
  const file = `${path}/${ROLLOUT_FILE}`;
  const breach = (problem: string) => void onBreach({ path: file, problem });
  try {
    const text = await readText(join(folder, file));
    if (text === undefined) {
      const names = (await namesIn(join(folder, path))).filter((name) => !layout.isHarmless(name));
      // It was written between the two reads.
      if (names.includes(ROLLOUT_FILE)) return rolloutAt(folder, path, onBreach);
      const [first] = names;
      return first ? breach(`is missing, though ${first} is there`) : undefined;
    }
    const decoded = decodeRecord('rollout', null, text);
    if ('problem' in decoded) return breach(decoded.problem);
    const { query, sample, attempt } = decoded.record as RolloutRecord;
    const id = { query: query.queryId, sample, attempt };
    return layout.rolloutFolder(id) === path ? id : breach(`belongs in ${layout.rolloutFolder(id)}`);
  } catch (error) {
    return breach(explain(error));
  }
}

/** Names in a folder, sorted; none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  const there = await inBucket(folder)?.entries();
  if (there) return [...there.files.map(({ name }) => name), ...there.folders].sort();
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', folder, error);
  }
}

/** Names in `path` (relative to `root`) that the run gives, sorted; others are not of this run. */
export async function ownNamesIn(
  root: string,
  path: string,
  isOwn: (name: string) => boolean,
  onBreach: OnBreach,
): Promise<string[]> {
  const names = (await namesIn(join(root, path))).filter((name) => !layout.isHarmless(name));
  for (const name of names) if (!isOwn(name)) onBreach({ path: `${path}/${name}`, problem: FOREIGN });
  return names.filter(isOwn);
}

/** Paths (relative to `root`) of the folders in `path`, sorted; files there are not of this run. */
export async function foldersIn(root: string, path: string, onBreach: OnBreach): Promise<string[]> {
  const { files, folders } = await entriesOf(join(root, path));
  for (const name of files) if (!layout.isHarmless(name)) onBreach({ path: `${path}/${name}`, problem: FOREIGN });
  return folders
    .filter((name) => !layout.isHarmless(name))
    .map((name) => `${path}/${name}`)
    .sort();
}

/** In a bucket: something is in it. */
export async function existsFolder(folder: string): Promise<boolean> {
  const there = await inBucket(folder)?.entries();
  if (there) return there.files.length + there.folders.length > 0;
  return (await stat(folder).catch(() => undefined))?.isDirectory() ?? false;
}

/** A folder that is not there has none. */
async function entriesOf(folder: string): Promise<{ readonly files: string[]; readonly folders: readonly string[] }> {
  const there = await inBucket(folder)?.entries();
  if (there) return { files: there.files.map(({ name }) => name), folders: there.folders };
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const [folders, files] = [true, false].map((wanted) =>
      entries.filter((entry) => entry.isDirectory() === wanted).map(({ name }) => name),
    ) as [string[], string[]];
    return { files, folders };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { files: [], folders: [] };
    throw fileError('read', folder, error);
  }
}

const OLD_MS = 60 * 60 * 1000;

/** Removes the leftovers of killed writers: of this machine at once, of any other when no live one holds its file so long. */
export async function removeOldTemporaries(folder: string): Promise<void> {
  // A bucket has none: a write is one request.
  if (inBucket(folder)) return;
  for (const name of await namesIn(folder)) {
    if (!isTemporary(name)) continue;
    const path = join(folder, name);
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile && (isOfDeadWriter(name) || (await isOlderThan(path, OLD_MS, folder, NODE_FILES))))
      await unlink(path).catch(() => {});
  }
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Removes the chunks and the call of a turn whose record is there. */
export async function dropChunks(folder: string, turn: number): Promise<void> {
  const names = (await namesIn(folder)).filter((name) => {
    const file = parseRolloutFile(name);
    return (file.kind === 'chunk' || file.kind === 'asked') && file.turn === turn;
  });
  // Another worker may be removing them at the same time.
  await Promise.all(names.map((name) => removeFile(join(folder, name)).catch(() => {})));
}

/** The highest number in the feed's ledger: of two folders, whatever its size. */
export async function countFeedEntries(folder: string): Promise<number> {
  const shard = (await namesIn(join(folder, layout.FEED))).findLast((name) => /^\d{6}$/.test(name));
  if (shard === undefined) return 0;
  const names = await namesIn(join(folder, layout.FEED, shard));
  const numbers = names.map((name) => layout.parseFeedFile(`${layout.FEED}/${shard}/${name}`) ?? 0);
  return Math.max(0, ...numbers);
}
