// The store as files in `<out>/<run>/`, on a disk or as objects of a bucket. format/ gives each record its path and its text, disk/ writes
// files that appear whole or not at all, ended/ holds ended rollouts. A damaged record is an error that names its file; a torn
// record that no later record refers to counts as never written (in-flight/torn.ts).

import { StoreError, UsageError } from '../domain/errors/errors.ts';
import { isRunName, RUN_NAME_RULE } from '../domain/names/ids.ts';
import { type Disk, openDisk } from './disk/disk.ts';
import { factsOf } from './disk/facts.ts';
import { recordError } from './disk/errors.ts';
import { openRecordFiles } from './disk/record-files.ts';
import { mayHoldRun } from './run/outside-runs.ts';
import { basename, dirname, join, resolvePlace } from './place.ts';
import * as layout from './format/layout.ts';
import { END_FILE, ROLLOUT_FILE } from './format/layout.ts';
import {
  countFeedEntries,
  dropChunks,
  removeOldTemporaries,
  namesIn,
  rolloutAt,
  rolloutFolders,
} from './in-flight/listing.ts';
import { countQueries, readQueries, writeQueries } from './run/queries.ts';
import type { Ended } from './ended/ended.ts';
import { openListing } from './ended/listing.ts';
import { openEnded } from './ended/objects.ts';
import { type FileLayer, NODE_FILES } from './disk/file-layer.ts';
import type { RecordCache } from './in-flight/cache.ts';
import type { RecordKind } from './format/kinds.ts';
import { openRolloutRecords } from './rollout-records.ts';
import type { Store, Stored } from './store.ts';
import { removeRecords } from './ended/end.ts';

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

  const pathOf = (name: string) => join(folder, name);
  const get = async <T extends object>(kind: RecordKind, name: string) =>
    (await files.load<T>(kind, null, pathOf(name)))?.stored;
  async function put<T extends object>(kind: RecordKind, name: string, record: T): Promise<Stored<T>> {
    const present = await get<T>(kind, name);
    if (present) return present;
    const written = await files.write(kind, null, pathOf(name), record);
    if (typeof written === 'symbol') throw recordError(pathOf(name), 'was there and is gone');
    return written.stored;
  }

  return {
    folder,
    exists: async () => (await factsOf(pathOf(layout.RUN_FILE))) !== undefined,
    putRun: (record) => mayHoldRun(folder).then(() => put('run', layout.RUN_FILE, record)),
    getRun: () => get('run', layout.RUN_FILE),
    async putResult(result) {
      const stored = await put('result', layout.RESULT_FILE, result);
      await sweep(folder, ended, disk);
      return stored;
    },
    getResult: () => get('result', layout.RESULT_FILE),

    putFeedEntry: (entry) => put('feed', layout.feedFile(entry.number), entry),
    getFeedEntry: (number) => get('feed', layout.feedFile(number)),
    countFeedEntries: () => countFeedEntries(folder),

    async putQueries(queries) {
      await removeOldTemporaries(folder);
      return writeQueries(folder, queries);
    },
    countQueries: () => countQueries(folder),
    readQueries: (from, count) => readQueries(folder, from, count),

    putRollout: (id, record) => putOf('rollout', id, layout.ROLLOUT_FILE, record),
    getRollout: (id) => getOf('rollout', id, layout.ROLLOUT_FILE),
    putTurn: (id, record) => putOf('turn', id, layout.turnFile(record.turn), record),
    getTurn: (id, turn) => getOf('turn', id, layout.turnFile(turn)),
    putChunk: (id, record) => putOf('chunk', id, layout.chunkFile(record.turn, record.chunk), record),
    getChunk: (id, turn, chunk) => getOf('chunk', id, layout.chunkFile(turn, chunk)),
    putAsked: (id, record) => putOf('asked', id, layout.askedFile(record.turn), record),
    getAsked: (id, turn) => getOf('asked', id, layout.askedFile(turn)),
    putAgent: (id, record) => putOf('agent', id, layout.agentFile(record.entry), record),
    getAgent: (id, entry) => getOf('agent', id, layout.agentFile(entry)),
    dropChunks: (id, turn) => dropChunks(folderOf(id), turn),
    putVerdict: (id, record) => putOf('verdict', id, layout.verdictFile(record.turn), record),
    getVerdict: (id, turn) => getOf('verdict', id, layout.verdictFile(turn)),
    putSay: (id, record) => putOf('say', id, layout.sayFile(record.turn), record),
    getSay: (id, turn) => getOf('say', id, layout.sayFile(turn)),
    async putEnd(id, record) {
      const stored = await putOf('end', id, layout.END_FILE, record);
      const { query, sample, attempt } = id;
      await disk.end(folder, { query, sample, attempt }, ended.knows(id));
      cache?.forget(folderOf(id));
      return stored;
    },
    getEnd: (id) => getOf('end', id, layout.END_FILE),
    putCall: (id, record) => putOf('call', id, layout.callFile(record.turn, record.call), record),
    getCall: (id, turn, call) => getOf('call', id, layout.callFile(turn, call)),
    putIntent: (id, record) => putOf('intent', id, layout.intentFile(record.turn, record.call), record),
    getIntent: (id, turn, call) => getOf('intent', id, layout.intentFile(turn, call)),

    getRecord: (id, file) => getOf(layout.parseRolloutFile(file).kind as RecordKind, id, file),

    ...openLogs(folder, disk),
    ...openListing(folder, run, ended),
  };
}

/** A result that cannot be read now is looked for again later. */
export async function hasEnded(runFolder: string): Promise<boolean> {
  try {
    return (await openFileStore(dirname(runFolder), basename(runFolder)).getResult()) !== undefined;
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
    else if (await ended.inFolder(path)) await removeRecords(join(folder, path), NODE_FILES);
  }
}
