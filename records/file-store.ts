// The store as files in `<out>/<run>/`, on a disk or as objects of a bucket. format/ gives each record its path and its text, disk/ writes
// files that appear whole or not at all, ended/ holds ended rollouts. A damaged record is an error that names its file; a torn
// record that no later record refers to counts as never written (in-flight/torn.ts).

import { StoreError, UsageError } from '../domain/errors/errors.ts';
import { isRunName, type RolloutId, RUN_NAME_RULE } from '../domain/names/ids.ts';
import { type Disk, openDisk } from './steps/disk.ts';
import { recordError } from './disk/errors.ts';
import { openRecordFiles } from './disk/record-files.ts';
import { mayHoldRun } from './run/outside-runs.ts';
import { basename, dirname, join, resolvePlace } from './place.ts';
import * as layout from './format/layout.ts';
import { countFeedEntries, dropChunks, rolloutAt, rolloutFolders } from './in-flight/listing.ts';
import { factsOf, namesIn, placeOf, removeOldTemporaries } from './places/files.ts';
import { countQueries, readQueries, writeQueries } from './run/queries.ts';
import { openExperts } from './run/experts.ts';
import type { Ended } from './ended/ended.ts';
import { openListing } from './ended/listing.ts';
import { openEnded } from './ended/objects.ts';
import type { FileLayer } from './disk/file-layer.ts';
import type { RecordCache } from './in-flight/cache.ts';
import { isOfRollout, pathOf, pathOfRecord, type RecordKind, type RolloutKind, type RunKind } from './format/kinds.ts';
import { openRolloutRecords } from './steps/rollout-records.ts';
import type { Store, Stored } from './store.ts';
import { removeRecords } from './ended/end.ts';
import { END_FILE, fileOf, fileToWrite, ROLLOUT_FILE } from './format/rollout-file.ts';

interface FileStoreParts {
  /** With a cache, a rollout's folder is examined once per opening: for callers that open a store for each step. */
  readonly cache?: RecordCache;
  /** The ended rollouts of a run's folder, for callers that open a store for each step. Default: of this store alone. */
  readonly endedOf?: (folder: string) => Ended;
  /** Performs the file I/O. Default: in this process, through `layer`. */
  readonly disk?: Disk;
  readonly layer?: FileLayer;
}

/** Opens the run's folder, which need not exist yet: the first put creates it. */
export function openFileStore(
  out: string,
  run: string,
  { cache, layer, disk = openDisk(layer), endedOf = openEnded }: FileStoreParts = {},
): Store {
  if (!isRunName(run)) {
    throw new UsageError(`${JSON.stringify(run)} cannot name a run`, {
      reason: 'run-name',
      fix: RUN_NAME_RULE,
    });
  }
  const folder = join(resolvePlace(process.cwd(), out), run);
  const ended = endedOf(folder);

  const files = openRecordFiles(disk);
  const { get: getOf, put: putOf, folderOf } = openRolloutRecords(folder, ended, disk, cache);

  const getOwn = async (kind: RunKind, path: string) => (await files.load(kind, null, join(folder, path)))?.stored;
  async function putOwn(kind: RunKind, record: object): Promise<Stored<object>> {
    if (kind === 'run') await mayHoldRun(folder);
    const path = pathOfRecord(kind, record);
    const present = await getOwn(kind, path);
    const written = present ? undefined : await files.write(kind, null, join(folder, path), record);
    if (typeof written === 'symbol') throw recordError(join(folder, path), 'was there and is gone');
    if (kind === 'result') await sweep(folder, ended, disk);
    return present ?? written!.stored;
  }
  async function putOfRollout(kind: RolloutKind, id: RolloutId, record: object): Promise<Stored<object>> {
    const stored = await putOf(kind, id, fileToWrite(kind, record), record);
    if (kind !== 'end') return stored;
    const { query, sample, attempt } = id;
    await disk.end(folder, { query, sample, attempt }, ended.knows(id));
    cache?.forget(folderOf(id));
    return stored;
  }
  async function put(kind: RecordKind, of: RolloutId | null, record: object): Promise<Stored<object>> {
    return isOfRollout(kind) ? putOfRollout(kind, of!, record) : putOwn(kind, record);
  }
  async function get(kind: RecordKind, ...name: readonly unknown[]): Promise<Stored<object> | undefined> {
    if (!isOfRollout(kind)) return getOwn(kind, pathOf(kind, name));
    const [id, ...numbers] = name;
    return getOf(kind, id as RolloutId, fileOf(kind, ...(numbers as never)));
  }

  return {
    folder,
    exists: async () => (await factsOf(join(folder, layout.RUN_FILE))) !== undefined,
    put: put as Store['put'],
    get: get as Store['get'],

    countFeedEntries: () => countFeedEntries(folder),

    async putQueries(queries) {
      await removeOldTemporaries(folder);
      return writeQueries(folder, queries);
    },
    countQueries: () => countQueries(folder),
    readQueries: (from, count) => readQueries(folder, from, count),

    dropChunks: (id, turn) => dropChunks(folderOf(id), turn),

    ...openExperts(folder, disk),
    ...openLogs(folder, disk),
    ...openListing(folder, run, ended),
  };
}

/** A result that cannot be read now is looked for again later. */
export async function hasEnded(runFolder: string): Promise<boolean> {
  try {
    return (await openFileStore(dirname(runFolder), basename(runFolder)).get('result')) !== undefined;
  } catch {
    return false;
  }
}

function openLogs(folder: string, disk: Disk): Pick<Store, 'putLog' | 'getLog'> {
  const pathOf = (version: number, name: string, kind: layout.LogKind) =>
    join(folder, layout.logPath(version, logName(name), kind));
  return {
    async putLog(version, name, text, { draft = false } = {}) {
      const write = draft ? disk.draft : disk.settle;
      await Promise.all(layout.LOG_KINDS.map((kind) => write(pathOf(version, name, kind), text[kind])));
    },
    getLog: (version, name, kind) => disk.read(pathOf(version, name, kind)),
  };
}

function logName(name: string): string {
  if (/^[^\\/\0]{1,200}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new StoreError(`${JSON.stringify(name)} cannot name a log`, { reason: 'log-name' });
}

async function sweep(folder: string, ended: Ended, disk: Pick<Disk, 'end'>): Promise<void> {
  for await (const path of rolloutFolders(folder, () => {})) {
    const names = await namesIn(join(folder, path));
    const id = names.includes(ROLLOUT_FILE) ? await rolloutAt(folder, path, () => {}) : undefined;
    // All of it is there: its line may not be durable yet.
    if (id && names.includes(END_FILE)) await disk.end(folder, id, false);
    else if (await ended.inFolder(path)) await removeRecords(placeOf(folder), join(folder, path));
  }
}
