// The content of a run's folder: its rollouts, found without any other record, and foreign files.

import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../../domain/errors.ts';
import type { RolloutId } from '../../domain/ids.ts';
import type { RolloutRecord } from '../../domain/trajectory.ts';
import { isOlderThan } from '../disk/clock.ts';
import { codeOf, fileError } from '../disk/errors.ts';
import { NODE_FILES } from '../disk/file-layer.ts';
import { isTemporary } from '../disk/temporary.ts';
import * as layout from './layout.ts';
import { decodeRecord } from './text.ts';
import type { OnBreach } from './stored.ts';
import { readText } from '../disk/write-once.ts';

/** Every rollout that has begun, folder by folder. */
export async function* listRollouts(folder: string, run: string, onBreach: OnBreach): AsyncGenerator<RolloutId> {
  for (const shard of await foldersIn(folder, layout.ROLLOUTS, onBreach)) {
    if (!/\/[0-9a-f]{2}$/.test(shard)) onBreach({ path: shard, problem: FOREIGN });
    else
      for (const query of await foldersIn(folder, shard, onBreach)) {
        for (const path of await foldersIn(folder, query, onBreach)) {
          const id = await rolloutAt(folder, path, onBreach);
          if (id) yield { run, ...id };
        }
      }
  }
}

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
  const file = `${path}/${layout.ROLLOUT_FILE}`;
  const breach = (problem: string) => void onBreach({ path: file, problem });
  try {
    const text = await readText(join(folder, file));
    if (text === undefined) {
      const names = (await namesIn(join(folder, path))).filter((name) => !layout.isHarmless(name));
      // It was written between the two reads.
      if (names.includes(layout.ROLLOUT_FILE)) return rolloutAt(folder, path, onBreach);
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
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', folder, error);
  }
}

/** Paths (relative to `root`) of the folders in `path`, sorted; files there are not of this run. */
export async function foldersIn(root: string, path: string, onBreach: OnBreach): Promise<string[]> {
  try {
    const entries = await readdir(join(root, path), { withFileTypes: true });
    const visible = entries.filter(({ name }) => !layout.isHarmless(name));
    for (const entry of visible) {
      if (!entry.isDirectory()) onBreach({ path: `${path}/${entry.name}`, problem: FOREIGN });
    }
    return visible
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${path}/${name}`)
      .sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', join(root, path), error);
  }
}

const OLD_MS = 60 * 60 * 1000;

/** Removes the leftovers of killed writers; a live writer never holds its file for this long. */
export async function removeOldTemporaries(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!isTemporary(name)) continue;
    const path = join(folder, name);
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile && (await isOlderThan(path, OLD_MS, folder, NODE_FILES))) await unlink(path).catch(() => {});
  }
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Removes the chunks of a turn whose record is there. */
export async function dropChunks(folder: string, turn: number): Promise<void> {
  const names = (await namesIn(folder)).filter((name) => {
    const file = layout.parseRolloutFile(name);
    return file.kind === 'chunk' && file.turn === turn;
  });
  // Another worker may be removing them at the same time.
  await Promise.all(names.map((name) => unlink(join(folder, name)).catch(() => {})));
}

/** The highest number in the feed's ledger: of two folders, whatever its size. */
export async function countFeedEntries(folder: string): Promise<number> {
  const shard = (await namesIn(join(folder, layout.FEED))).findLast((name) => /^\d{6}$/.test(name));
  if (shard === undefined) return 0;
  const names = await namesIn(join(folder, layout.FEED, shard));
  const numbers = names.map((name) => layout.parseFeedFile(`${layout.FEED}/${shard}/${name}`) ?? 0);
  return Math.max(0, ...numbers);
}
