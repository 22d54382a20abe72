// The content of a run's folder: its rollouts, found without any other record, and foreign files.

import { explain } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { mapAhead } from '../map-ahead.ts';
import { entriesOf, namesIn, placeOf, readText, removeFile } from '../places/files.ts';
import { join } from '../place.ts';
import * as layout from '../format/layout.ts';
import { decodeRecord, type OnBreach } from '../format/text.ts';
import { parseRolloutFile, ROLLOUT_FILE } from '../format/rollout-file.ts';

/** Every rollout that has begun, folder by folder. */
export async function* listRollouts(folder: string, run: string, onBreach: OnBreach): AsyncGenerator<RolloutId> {
  const found = mapAhead(rolloutFolders(folder, onBreach), placeOf(folder).atOnce, (path) =>
    rolloutAt(folder, path, onBreach),
  );
  for await (const id of found) if (id) yield { run, ...id };
}

/** Paths of the folders of rollouts, whatever is in them. */
export async function* rolloutFolders(folder: string, onBreach: OnBreach): AsyncGenerator<string> {
  const root = join(folder, layout.ROLLOUTS);
  const onOther = (path: string) => onBreach({ path: `${layout.ROLLOUTS}/${path}`, problem: FOREIGN });
  const isOwn = (name: string) => /^[0-9a-f]{2}$/.test(name);
  for await (const path of placeOf(root).walk(root, 3, { isOwn, onOther })) yield `${layout.ROLLOUTS}/${path}`;
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
