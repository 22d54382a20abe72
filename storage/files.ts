// The store as plain files in `<out>/<run>/`: see layout.ts for the names, record-text.ts for the text of
// a record, write-once.ts for how a file appears. A record that is broken is an error that names its file.

import { join, resolve } from 'node:path';
import { StoreError, UsageError } from '../domain/errors.ts';
import { isRunName, type RolloutId } from '../domain/ids.ts';
import { recordError } from './file-errors.ts';
import * as layout from './layout.ts';
import { dropChunks, listRollouts, listRolloutsOf, removeOldTemporaries } from './listing.ts';
import { countQueries, readQueries, writeQueries } from './queries.ts';
import { decodeRecord, encodeRecord, type Owner, type RecordKind } from './record-text.ts';
import type { Store, Stored } from './store.ts';
import { readText, replaceFile, writeOnce } from './write-once.ts';

/** Opens the run's folder, which need not exist yet: the first put makes it. */
export function openFileStore(out: string, run: string): Store {
  if (!isRunName(run)) {
    throw new UsageError(`${JSON.stringify(run)} cannot name a run`, {
      reason: 'run-name',
      fix: 'Use letters, digits, `.`, `_` and `-`, at most 100 of them.',
    });
  }
  const folder = resolve(out, run);

  async function get<T>(kind: RecordKind, owner: Owner | null, name: string): Promise<Stored<T> | undefined> {
    const path = join(folder, name);
    const text = await readText(path);
    if (text === undefined) return undefined;
    const decoded = decodeRecord(kind, owner, text);
    if ('problem' in decoded) throw recordError(path, decoded.problem);
    return { record: decoded.record as T, hash: decoded.hash, created: false };
  }

  async function put<T extends object>(
    kind: RecordKind,
    owner: Owner | null,
    name: string,
    record: T,
  ): Promise<Stored<T>> {
    const path = join(folder, name);
    const present = await get<T>(kind, owner, name);
    if (present) return present;
    const { text, hash } = encode(path, kind, owner, record);
    if (await writeOnce(path, text)) return { record: asStored(kind, owner, text) as T, hash, created: true };
    const winner = await get<T>(kind, owner, name);
    if (winner) return winner;
    throw recordError(path, 'was there and is gone');
  }

  const at = (id: RolloutId, file: string) => `${layout.rolloutFolder(id)}/${file}`;
  const owner = ({ query, sample, attempt }: RolloutId): Owner => ({ query, sample, attempt });

  return {
    folder,
    putRun: (record) => put('run', null, layout.RUN_FILE, record),
    getRun: () => get('run', null, layout.RUN_FILE),
    putResult: (result) => put('result', null, layout.RESULT_FILE, result),
    getResult: () => get('result', null, layout.RESULT_FILE),

    async putQueries(queries) {
      await removeOldTemporaries(folder);
      return writeQueries(folder, queries);
    },
    countQueries: () => countQueries(folder),
    readQueries: (from, count) => readQueries(folder, from, count),

    putRollout: (id, record) => put('rollout', owner(id), at(id, layout.ROLLOUT_FILE), record),
    getRollout: (id) => get('rollout', owner(id), at(id, layout.ROLLOUT_FILE)),
    putTurn: (id, record) => put('turn', owner(id), at(id, layout.turnFile(record.turn)), record),
    getTurn: (id, turn) => get('turn', owner(id), at(id, layout.turnFile(turn))),
    putChunk: (id, record) => put('chunk', owner(id), at(id, layout.chunkFile(record.turn, record.chunk)), record),
    getChunk: (id, turn, chunk) => get('chunk', owner(id), at(id, layout.chunkFile(turn, chunk))),
    dropChunks: (id, turn) => dropChunks(join(folder, layout.rolloutFolder(id)), turn),
    putVerdict: (id, record) => put('verdict', owner(id), at(id, layout.verdictFile(record.turn)), record),
    getVerdict: (id, turn) => get('verdict', owner(id), at(id, layout.verdictFile(turn))),
    async putEnd(id, record) {
      const stored = await put('end', owner(id), at(id, layout.END_FILE), record);
      await removeOldTemporaries(join(folder, layout.rolloutFolder(id)));
      return stored;
    },
    getEnd: (id) => get('end', owner(id), at(id, layout.END_FILE)),

    async putLog(version, name, kind, text) {
      const path = join(folder, layout.logPath(version, logName(name), kind));
      // A late writer of an earlier turn must not take away what a later one wrote.
      if (!(await readText(path))?.startsWith(text)) await replaceFile(path, text);
    },
    getLog: (version, name, kind) => readText(join(folder, layout.logPath(version, logName(name), kind))),

    listRollouts: (onBreach) => listRollouts(folder, run, onBreach ?? (() => {})),
    listRolloutsOf: (query) => listRolloutsOf(folder, run, query),
  };
}

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

/** What a put returns is what a later get returns: parsed from the text, not the caller's object. */
function asStored(kind: RecordKind, owner: Owner | null, text: string): object {
  const decoded = decodeRecord(kind, owner, text);
  if ('problem' in decoded) throw new StoreError(`a record of ours ${decoded.problem}`, { reason: 'record-broken' });
  return decoded.record;
}

function logName(name: string): string {
  if (/^[^\\/\0]{1,200}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new StoreError(`${JSON.stringify(name)} cannot name a log`, { reason: 'log-name' });
}
