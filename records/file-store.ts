// The store as files in `<out>/<run>/`, on a disk or as objects of a bucket. format/ gives each record its path and its text, disk/ writes
// files that appear whole or not at all, ended/ holds ended rollouts. A damaged record is an error that names its file; a torn
// record that no later record refers to counts as never written (in-flight/torn.ts).

import { StoreError, UsageError } from '../domain/errors/errors.ts';
import { isRunName, type RolloutId, RUN_NAME_RULE } from '../domain/names/ids.ts';
import { type Disk, openDisk } from './disk/disk.ts';
import { factsOf, removeFile } from './disk/facts.ts';
import { recordError } from './disk/errors.ts';
import { mayHoldRun } from './run/outside-runs.ts';
import { basename, dirname, join, resolvePlace } from './place.ts';
import * as layout from './format/layout.ts';
import { countFeedEntries, dropChunks, removeOldTemporaries } from './in-flight/listing.ts';
import { countQueries, readQueries, writeQueries } from './run/queries.ts';
import type { Ended } from './ended/ended.ts';
import type { EndedRollout } from './ended/line.ts';
import { openListing } from './ended/listing.ts';
import { openEnded } from './ended/open.ts';
import { sweep } from './ended/sweep.ts';
import type { FileLayer } from './disk/file-layer.ts';
import type { KeptRecords, RecordCache } from './in-flight/cache.ts';
import type { RecordKind } from './format/kinds.ts';
import { decodeRecord, encodeRecord, type Owner } from './format/text.ts';
import type { Store, Stored } from './store.ts';
import { setAside, unlessTorn } from './in-flight/torn.ts';

export interface FileStoreParts {
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

  async function load<T extends object>(kind: RecordKind, owner: Owner | null, path: string) {
    return decode<T>(kind, owner, path, await disk.read(path));
  }

  function decode<T extends object>(kind: RecordKind, owner: Owner | null, path: string, text: string | undefined) {
    if (text === undefined) return undefined;
    const decoded = decodeRecord(kind, owner, text);
    if ('problem' in decoded) throw recordError(path, decoded.problem, decoded.torn);
    return { stored: { record: decoded.record as T, hash: decoded.hash, created: false }, bytes: text.length };
  }

  /** ALONE if the record has a base (its rollout's first file) that is not there, as of an ended one; GONE as of one that ends. */
  async function write<T extends object>(
    kind: RecordKind,
    owner: Owner | null,
    path: string,
    record: T,
    base: string | null = null,
  ) {
    const { text, hash, record: kept } = encode(path, kind, owner, record);
    const put = base === null ? disk.writeOnce(path, text) : disk.writeBeside(base, path, text);
    const how = await put;
    if (how === 'alone') return ALONE;
    if (how === true || how === 'created') {
      // A put returns the same object as a later get, not the caller's object.
      return { stored: { record: kept as T, hash, created: true }, bytes: text.length };
    }
    return (await load<T>(kind, owner, path)) ?? GONE;
  }

  const ofRun = (name: string) => join(folder, name);
  const get = async <T extends object>(kind: RecordKind, name: string) =>
    (await load<T>(kind, null, ofRun(name)))?.stored;
  async function put<T extends object>(kind: RecordKind, name: string, record: T): Promise<Stored<T>> {
    const present = await get<T>(kind, name);
    if (present) return present;
    const written = await write(kind, null, ofRun(name), record);
    if (typeof written === 'symbol') throw recordError(ofRun(name), 'was there and is gone');
    return written.stored;
  }

  const kept = new Map<string, KeptRecords>();
  /** Reads one file of a rollout, and after that the identity of its folder, in a single call. */
  async function look(rollout: string, file: string | null) {
    const { identity, text } = await disk.look(join(rollout, layout.ROLLOUT_FILE), file && join(rollout, file));
    const records = cache?.of(rollout, identity);
    if (records) kept.set(rollout, records);
    return { records, text, identity };
  }
  async function keptOf(rollout: string): Promise<KeptRecords | undefined> {
    return kept.get(rollout) ?? (cache && (await look(rollout, null)).records);
  }

  // The name takes two hashes, and the same rollout is requested several times in a row.
  let last: { readonly id: RolloutId; readonly folder: string } | undefined;
  function folderOf(id: RolloutId): string {
    if (last?.id !== id) last = { id, folder: join(folder, layout.rolloutFolder(id)) };
    return last.folder;
  }
  const owner = ({ query, sample, attempt }: RolloutId): Owner => ({ query, sample, attempt });

  function inLine<T extends object>(kind: RecordKind, { of, records }: EndedRollout, file: string) {
    const opened = records.get(file)?.open();
    if (!opened) return undefined;
    if ('problem' in opened)
      throw recordError(`${ended.lineOf(of)}: ${layout.rolloutFolder(of)}/${file}`, opened.problem);
    return { record: opened.record as T, hash: opened.hash, created: false };
  }

  async function getOf<T extends object>(
    kind: RecordKind,
    id: RolloutId,
    file: string,
  ): Promise<Stored<T> | undefined> {
    // Once, unless the rollout ends in this very moment.
    for (;;) {
      const line = await ended.rollout(id);
      if (line) return inLine<T>(kind, line, file);
      const { found, sure } = await getLoose<T>(kind, id, file);
      if (found || sure || !(await ended.look(id))) return found;
    }
  }

  /** `sure`: if it is not there, it is in no line either. */
  async function getLoose<T extends object>(kind: RecordKind, id: RolloutId, file: string) {
    const rollout = folderOf(id);
    const path = join(rollout, file);
    let records = kept.get(rollout);
    let read = () => load<T>(kind, owner(id), path);
    if (!records && cache) {
      const unknown = !cache.has(rollout, file);
      const looked = await look(rollout, unknown ? file : null);
      records = looked.records;
      if (unknown) read = async () => decode<T>(kind, owner(id), path, looked.text);
    }
    const known = records?.get(file);
    if (known) return { found: known as Stored<T>, sure: true };
    const found = await unlessTorn(rollout, file, read());
    if (found) records?.keep(file, found.stored, found.bytes);
    if (found) return { found: found.stored, sure: true };
    // The first file of an ended rollout goes first: while that is there, nothing has gone.
    const sure = file !== layout.ROLLOUT_FILE && (await disk.isThere(join(rollout, layout.ROLLOUT_FILE)));
    return { found: undefined, sure };
  }

  async function putOf<T extends object>(kind: RecordKind, id: RolloutId, file: string, record: T): Promise<Stored<T>> {
    const rollout = folderOf(id);
    const path = join(rollout, file);
    const isFirst = file === layout.ROLLOUT_FILE;
    if (isFirst && (await ended.look(id))) return ofEnded(kind, id, file);
    let base = isFirst ? null : join(rollout, layout.ROLLOUT_FILE);
    let written: { readonly stored: Stored<T>; readonly bytes: number } | undefined;
    for (;;) {
      const done = await unlessTorn(rollout, file, write(kind, owner(id), path, record, base));
      if (typeof done === 'symbol') {
        if (await ended.look(id)) return ofEnded(kind, id, file);
        if (done === ALONE) base = null;
      } else if (done) {
        written = done;
        break;
      } else await setAside(path);
    }
    const { stored, bytes } = written;
    if (isFirst && stored.created && (await ended.look(id))) {
      // It ended between the two looks, and its first file had just gone.
      await removeFile(path);
      return ofEnded(kind, id, file);
    }
    (await keptOf(rollout))?.keep(file, stored, bytes);
    return stored;
  }

  async function ofEnded<T extends object>(kind: RecordKind, id: RolloutId, file: string): Promise<Stored<T>> {
    const line = await ended.rollout(id);
    const found = line && inLine<T>(kind, line, file);
    if (found) return found;
    throw new StoreError(`${join(folderOf(id), file)} is not written: its rollout has ended`, {
      reason: 'rollout-ended',
    });
  }

  const logPath = (version: number, name: string, kind: layout.LogKind) =>
    join(folder, layout.logPath(version, logName(name), kind));

  return {
    folder,
    exists: async () => (await factsOf(ofRun(layout.RUN_FILE))) !== undefined,
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
      await disk.end(folder, owner(id), ended.knows(id));
      cache?.forget(folderOf(id));
      return stored;
    },
    getEnd: (id) => getOf('end', id, layout.END_FILE),
    putCall: (id, record) => putOf('call', id, layout.callFile(record.turn, record.call), record),
    getCall: (id, turn, call) => getOf('call', id, layout.callFile(turn, call)),
    putIntent: (id, record) => putOf('intent', id, layout.intentFile(record.turn, record.call), record),
    getIntent: (id, turn, call) => getOf('intent', id, layout.intentFile(turn, call)),

    getRecord: (id, file) => getOf(layout.parseRolloutFile(file).kind as RecordKind, id, file),

    async putLog(version, name, text, { draft = false } = {}) {
      const write = draft ? disk.draft : disk.settle;
      await Promise.all(layout.LOG_KINDS.map((kind) => write(logPath(version, name, kind), text[kind])));
    },
    getLog: (version, name, kind) => disk.read(logPath(version, name, kind)),

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

/** A write that found no base. */
const ALONE = Symbol('alone');
/** A write that found an earlier record, which was removed before it was read. */
const GONE = Symbol('gone');

function encode(path: string, kind: RecordKind, owner: Owner | null, record: object) {
  try {
    return encodeRecord(kind, owner, record);
  } catch (error) {
    throw new StoreError(`cannot write ${path}: the record holds what JSON cannot`, {
      reason: 'not-json',
      cause: error,
    });
  }
}

function logName(name: string): string {
  if (/^[^\\/\0]{1,200}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new StoreError(`${JSON.stringify(name)} cannot name a log`, { reason: 'log-name' });
}
