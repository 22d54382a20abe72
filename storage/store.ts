// The store interface: one run's records. Every put is atomic, by name and write-once: a second put of the same name
// changes nothing and returns the first record. Readers never see a partial record.

import type { FeedEntry } from '../domain/feed-entry.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { Query } from '../domain/query.ts';
import type { SayRecord } from '../domain/say.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../domain/trajectory.ts';
import type { ChunkRecord, TurnRecord } from '../domain/turn.ts';
import type { RunRecord } from './record/run-record.ts';

/** A record as stored, with the SHA-256 (hex) of its content. */
export interface Stored<T> {
  /** Its settings, where it has some, are complete: what an older version did not write has its default. */
  readonly record: T;
  /** The record without those defaults, where some were missing: what `hash` is of. */
  readonly asWritten?: T;
  readonly hash: string;
  /** False if an earlier put of the same name won. */
  readonly created: boolean;
}

/** A file that should not exist, or whose content is wrong. */
export interface Breach {
  /** Path relative to the run's folder. */
  readonly path: string;
  readonly problem: string;
}

/** One turn of a log, or all of it. */
export interface LogText {
  /** For people. */
  readonly txt: string;
  /** For monitors. */
  readonly jsonl: string;
}

export interface Store {
  /** The run's folder, for people. */
  readonly folder: string;

  /** Stores run.json; returns the first one stored. */
  putRun(record: RunRecord): Promise<Stored<RunRecord>>;
  getRun(): Promise<Stored<RunRecord> | undefined>;

  /** Stores queries.jsonl and its index at once; an earlier one stays. Returns their number. */
  putQueries(queries: AsyncIterable<Query> | Iterable<Query>): Promise<number>;
  countQueries(): Promise<number>;
  /** The accepted queries [from, from + count), in data set order; O(count), whatever the file's size. */
  readQueries(from: number, count: number): Promise<Query[]>;

  putRollout(id: RolloutId, record: RolloutRecord): Promise<Stored<RolloutRecord>>;
  getRollout(id: RolloutId): Promise<Stored<RolloutRecord> | undefined>;
  putTurn(id: RolloutId, record: TurnRecord): Promise<Stored<TurnRecord>>;
  getTurn(id: RolloutId, turn: number): Promise<Stored<TurnRecord> | undefined>;
  /** A part of an unfinished answer. */
  putChunk(id: RolloutId, record: ChunkRecord): Promise<Stored<ChunkRecord>>;
  getChunk(id: RolloutId, turn: number, chunk: number): Promise<Stored<ChunkRecord> | undefined>;
  /** Once the turn's record is stored, its chunks are redundant. */
  dropChunks(id: RolloutId, turn: number): Promise<void>;
  putVerdict(id: RolloutId, record: VerdictRecord): Promise<Stored<VerdictRecord>>;
  getVerdict(id: RolloutId, turn: number): Promise<Stored<VerdictRecord> | undefined>;
  /** A person's message before a turn. */
  putSay(id: RolloutId, record: SayRecord): Promise<Stored<SayRecord>>;
  getSay(id: RolloutId, turn: number): Promise<Stored<SayRecord> | undefined>;
  putEnd(id: RolloutId, record: EndRecord): Promise<Stored<EndRecord>>;
  getEnd(id: RolloutId): Promise<Stored<EndRecord> | undefined>;

  /**
   * The algorithm's log: answers/<version>/<name>.txt and .jsonl, of all turns of a rollout that began with the same
   * version; each replaced as a whole. Idempotent: the same content gives the same file, and a text that the log already
   * begins with changes nothing. A draft, which more turns will follow, is complete after any kill, but need not survive
   * a power cut.
   */
  putLog(version: number, name: string, text: LogText, options?: { readonly draft?: boolean }): Promise<void>;
  getLog(version: number, name: string, kind: 'txt' | 'jsonl'): Promise<string | undefined>;

  /** Every rollout of the run, in no order; torn or foreign files go to `onBreach` and are skipped. */
  listRollouts(onBreach?: (breach: Breach) => void): AsyncIterable<RolloutId>;
  /** The rollouts of one query, by sample, then attempt. */
  listRolloutsOf(query: string): Promise<RolloutId[]>;

  /** An entry of the feed's ledger, by its number; returns the first one stored, which may be another's. */
  putFeedEntry(entry: FeedEntry): Promise<Stored<FeedEntry>>;
  getFeedEntry(number: number): Promise<Stored<FeedEntry> | undefined>;
  /** The number of the last entry; 0 without any. */
  countFeedEntries(): Promise<number>;

  /** The run's result, written by the collection: result.json. */
  putResult(result: object): Promise<Stored<object>>;
  getResult(): Promise<Stored<object> | undefined>;
}
