// Records as files of a disk: each is written once, and read with its hash proved. A damaged one is an error with its path.

import { StoreError } from '../../domain/errors/errors.ts';
import type { RecordKind } from '../format/kinds.ts';
import { type Stored, decodeRecord, encodeRecord, type Owner } from '../format/text.ts';
import type { Place } from '../place.ts';
import { recordError } from './errors.ts';

export interface LoadedRecord<T> {
  readonly stored: Stored<T>;
  /** The length of its text. */
  readonly bytes: number;
}

export interface RecordFiles {
  load<T extends object>(kind: RecordKind, owner: Owner | null, path: string): Promise<LoadedRecord<T> | undefined>;
  /** Without a base the record stands by itself; with one, only beside it. */
  write<T extends object>(
    kind: RecordKind,
    owner: Owner | null,
    path: string,
    record: T,
    base?: string | null,
  ): Promise<LoadedRecord<T> | typeof ALONE | typeof GONE>;
}

/** A write that found no base. */
export const ALONE = Symbol('alone');
/** A write that found an earlier record, which was removed before it was read. */
export const GONE = Symbol('gone');

export function openRecordFiles(disk: Pick<Place, 'read' | 'writeOnce' | 'writeBeside'>): RecordFiles {
  async function load<T extends object>(kind: RecordKind, owner: Owner | null, path: string) {
    return decodeFile<T>(kind, owner, path, await disk.read(path));
  }

  return {
    load,
    async write<T extends object>(
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
    },
  };
}

/** The record in the text of a file; undefined for a file that is not there. */
export function decodeFile<T extends object>(
  kind: RecordKind,
  owner: Owner | null,
  path: string,
  text: string | undefined,
): LoadedRecord<T> | undefined {
  if (text === undefined) return undefined;
  const decoded = decodeRecord(kind, owner, text);
  if ('problem' in decoded) throw recordError(path, decoded.problem, decoded.torn);
  return { stored: { record: decoded.record as T, hash: decoded.hash, created: false }, bytes: text.length };
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
