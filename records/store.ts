// The store interface: one run's records. Every put is atomic, by name and write-once: a second put of the same name
// changes nothing and returns the first record. Readers never see a partial record, and no difference between a rollout
// in flight, which is files, and an ended one, which is a line (ended/) and takes no further record. On a disk or in a bucket.

import type { RolloutId } from '../domain/names/ids.ts';
import type { ExpertsSlice } from '../domain/rollout/experts.ts';
import type { Query } from '../domain/query/query.ts';
import type { RolloutRow } from '../domain/rollout/rollout-row.ts';
import type { LogText } from '../domain/rollout/turn-log.ts';
import type { NameSet } from './name-set.ts';
import type { FolderTexts } from './place.ts';
import type { NameOf, OwnerOf, RecordKind, Records } from './format/kinds.ts';
import type { Breach, OnBreach, Stored } from './format/text.ts';

export type { Breach, LogText, RecordKind, Records, OnBreach, Stored };

/** The texts of one rollout's records, by the names of its files, its chunks and foreign ones included. */
export interface RolloutFiles extends FolderTexts {
  /** Of an ended rollout: the file and the byte of its line, and why it is not the one that its records give. */
  readonly line?: { readonly place: string; readonly problem: () => string | undefined };
}

/** What was read of a run's rollouts; filled by the reader. */
export interface SeenRows {
  /** Those in flight, by the paths of their folders. */
  readonly inFlight: Map<string, RolloutRow>;
  /** Bytes of whole lines of a segment, by its path, and bytes of its index that name some of them. */
  readonly lines: Map<string, { covered: number; indexed: number }>;
  /** Names, in a bucket. */
  readonly objects: NameSet;
}

export interface Store {
  /** The run's folder, for people. */
  readonly folder: string;

  /** Whether the folder holds a run: its run.json is there, whatever is in it. */
  exists(): Promise<boolean>;
  /**
   * Stores a record: a run's own one of no rollout, else one of the rollout. Returns the first one stored, which may be
   * another's. An end is the last step: all records of its rollout become one line, and its files go; one with a damaged record
   * stays files. With the run's result goes what killed workers left of ended rollouts.
   */
  put<K extends RecordKind>(kind: K, of: OwnerOf<K>, record: Records[K]): Promise<Stored<Records[K]>>;
  get<K extends RecordKind>(kind: K, ...name: NameOf<K>): Promise<Stored<Records[K]> | undefined>;

  /** Stores experts of tokens as a file that is named by its content, durable on return. */
  putExperts(data: Uint8Array): Promise<Pick<ExpertsSlice, 'sha256' | 'bytes'>>;
  /** Undefined where there is no such file; throws where its content is another. */
  readExperts(of: Pick<ExpertsSlice, 'sha256' | 'bytes'>): Promise<Buffer | undefined>;

  /** Stores queries.jsonl and its index at once; an earlier one stays. Returns their number. */
  putQueries(queries: AsyncIterable<Query> | Iterable<Query>): Promise<number>;
  countQueries(): Promise<number>;
  /** The accepted queries [from, from + count), in data set order; O(count), whatever the file's size. */
  readQueries(from: number, count: number): Promise<Query[]>;

  /** Once the turn's record is stored, its chunks and its call are redundant. */
  dropChunks(id: RolloutId, turn: number): Promise<void>;

  /**
   * The algorithm's log: answers/<version>/<name>.txt and .jsonl, of all turns of a rollout that began with the same
   * version; each replaced as a whole. Idempotent: the same content gives the same file, and a text that the log already
   * begins with changes nothing. A draft, which more turns will follow, is complete after any kill, but need not survive
   * a power cut.
   */
  putLog(version: number, name: string, text: LogText, options?: { readonly draft?: boolean }): Promise<void>;
  getLog(version: number, name: string, kind: 'txt' | 'jsonl'): Promise<string | undefined>;

  /** Every rollout of the run, in no order; torn or foreign files go to `onBreach` and are skipped. */
  listRollouts(onBreach?: OnBreach): AsyncIterable<RolloutId>;
  /** The rollouts of one query, by sample, then attempt. `partly`: even if there are lines that nobody can read. */
  listRolloutsOf(query: string, options?: { readonly partly?: boolean }): Promise<RolloutId[]>;
  /** By the path of its folder in the run's. */
  rolloutIn(path: string): Promise<RolloutId | undefined>;
  /**
   * The ended rollouts as rows of a list, in the order of `Ended.entries`; with `inFlight`, those in flight before them: of one
   * that ends meanwhile the last row counts. `seen` is of an earlier call: only what is new since.
   */
  listRows(options?: { readonly seen?: SeenRows; readonly inFlight?: boolean }): AsyncIterable<RolloutRow>;
  /** Second lines of ended rollouts that differ from the ones that count. */
  listConflicts(): AsyncIterable<Breach>;
  /**
   * The result of `read` on the texts of a rollout's records, for a reader that parses a part of them; there are none if it has
   * not begun. If it ends meanwhile, `read` is called again.
   */
  readRecords<T>(id: RolloutId, read: (files: RolloutFiles) => T): Promise<T>;

  /** The number of the last entry of the feed's ledger; 0 without any. */
  countFeedEntries(): Promise<number>;
}
