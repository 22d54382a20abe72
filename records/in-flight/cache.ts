// Records that a worker has just read or written, so that a turn does not read all earlier turns from disk again.
// A record never changes, but a run's folder may be removed and created again, so the cached records of a rollout are
// valid only while its first record is the same file. Bounded by bytes: the least recently used rollout is evicted.

import type { Stored } from '../format/text.ts';

/** The cached records of one rollout, by file name. */
export interface KeptRecords {
  get(file: string): Stored<object> | undefined;
  keep(file: string, stored: Stored<object>, bytes: number): void;
}

export interface RecordCache {
  /** `identity`: the current one of its first record's file; undefined if that is not written yet. */
  of(folder: string, identity: string | undefined): KeptRecords | undefined;
  /** True if a record is cached that is valid if the rollout is still the same. */
  has(folder: string, file: string): boolean;
  /** A rollout that has ended is not read again. */
  forget(folder: string): void;
}

interface Rollout {
  /** The identity of its first record's file. */
  readonly identity: string;
  readonly records: Map<string, Stored<object>>;
  bytes: number;
}

/** Bytes of the records' texts. */
const MAX_BYTES = 64 * 1024 * 1024;

export function openRecordCache(maxBytes: number = MAX_BYTES): RecordCache {
  // In the order of last use.
  const rollouts = new Map<string, Rollout>();
  let bytes = 0;

  function forget(folder: string): void {
    bytes -= rollouts.get(folder)?.bytes ?? 0;
    rollouts.delete(folder);
  }

  return {
    of(folder, identity) {
      const known = rollouts.get(folder);
      if (known?.identity !== identity) forget(folder);
      if (identity === undefined) return undefined;
      const rollout = known?.identity === identity ? known : { identity, records: new Map(), bytes: 0 };
      rollouts.delete(folder);
      rollouts.set(folder, rollout);
      return {
        get: (file) => rollout.records.get(file),
        keep(file, stored, size) {
          // Evicted in the meantime.
          if (rollouts.get(folder) !== rollout || rollout.records.has(file)) return;
          rollout.records.set(file, { ...stored, created: false });
          rollout.bytes += size;
          bytes += size;
          for (const oldest of rollouts.keys()) {
            if (bytes <= maxBytes) return;
            forget(oldest);
          }
        },
      };
    },
    has: (folder, file) => rollouts.get(folder)?.records.has(file) ?? false,
    forget,
  };
}
