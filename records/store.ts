// The store interface: one run's records. Every put is atomic, by name and write-once: a second put of the same name
// changes nothing and returns the first record. Readers never see a partial record, and no difference between a rollout
// in flight, which is files, and an ended one, which is a line (ended/) and takes no further record. On a disk or in a bucket.

import type { AskedRecord } from '../domain/agent/call-record.ts';
import type { AgentEntry } from '../domain/agent/program.ts';
import type { FeedEntry } from '../domain/feed/entry.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { LogText } from '../domain/rollout/turn-log.ts';
import type { Query } from '../domain/query/query.ts';
import type { SayRecord } from '../domain/rollout/lineage.ts';
import type { CallRecord, IntentRecord } from '../domain/tools/tool.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { ChunkRecord, TurnRecord } from '../domain/rollout/turn.ts';
import type { RolloutRow } from '../domain/rollout/rollout-row.ts';
import type { SeenLines } from './ended/ended.ts';
import type { RunRecord } from './format/run-record.ts';
import type { Breach, OnBreach, Stored } from './format/text.ts';
import type { RolloutFiles } from './reading/summary.ts';

export type { Breach, LogText, OnBreach, RolloutFiles, SeenLines, Stored };

export interface Store {
  /** The run's folder, for people. */
  readonly folder: string;

  /** Whether the folder holds a run: its run.json is there, whatever is in it. */
  exists(): Promise<boolean>;
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
  /** A call of an agent's program, before the model is asked. */
  putAsked(id: RolloutId, record: AskedRecord): Promise<Stored<AskedRecord>>;
  getAsked(id: RolloutId, turn: number): Promise<Stored<AskedRecord> | undefined>;
  /** An entry of the log of an agent's attempts; returns the first one stored, which may be another's. */
  putAgent(id: RolloutId, record: AgentEntry): Promise<Stored<AgentEntry>>;
  getAgent(id: RolloutId, entry: number): Promise<Stored<AgentEntry> | undefined>;
  /** Once the turn's record is stored, its chunks and its call are redundant. */
  dropChunks(id: RolloutId, turn: number): Promise<void>;
  putVerdict(id: RolloutId, record: VerdictRecord): Promise<Stored<VerdictRecord>>;
  getVerdict(id: RolloutId, turn: number): Promise<Stored<VerdictRecord> | undefined>;
  /** A person's message before a turn. */
  putSay(id: RolloutId, record: SayRecord): Promise<Stored<SayRecord>>;
  getSay(id: RolloutId, turn: number): Promise<Stored<SayRecord> | undefined>;
  /** The result of a call of a tool, and before it, for a tool that must not be called twice, the intent. */
  putCall(id: RolloutId, record: CallRecord): Promise<Stored<CallRecord>>;
  getCall(id: RolloutId, turn: number, call: number): Promise<Stored<CallRecord> | undefined>;
  putIntent(id: RolloutId, record: IntentRecord): Promise<Stored<IntentRecord>>;
  getIntent(id: RolloutId, turn: number, call: number): Promise<Stored<IntentRecord> | undefined>;
  /** The last step: all its records become one line, and its files go. One with a damaged record stays files. */
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
  listRollouts(onBreach?: OnBreach): AsyncIterable<RolloutId>;
  /** The rollouts of one query, by sample, then attempt. `partly`: even if there are lines that nobody can read. */
  listRolloutsOf(query: string, options?: { readonly partly?: boolean }): Promise<RolloutId[]>;
  /** By the path of its folder in the run's. */
  rolloutIn(path: string): Promise<RolloutId | undefined>;
  /** By the name of its file. */
  getRecord(id: RolloutId, file: string): Promise<Stored<object> | undefined>;
  /** The names of a rollout's files, its chunks and foreign ones included; none if it has not begun. */
  listFiles(id: RolloutId): Promise<string[]>;
  /** The ended rollouts as rows of a list, in the order of `Ended.entries`. `seen` is of an earlier call: only those since. */
  listEnded(seen?: SeenLines): AsyncIterable<RolloutRow>;
  /** Why the line of an ended rollout is not the one that its records give. */
  lineProblem(id: RolloutId): Promise<string | undefined>;
  /** Second lines of ended rollouts that differ from the ones that count. */
  listConflicts(): AsyncIterable<Breach>;
  /**
   * The result of `read` on the texts of a rollout's records, for a reader that parses a part of them; there are none if it has
   * not begun. If it ends meanwhile, `read` is called again.
   */
  readRecords<T>(id: RolloutId, read: (files: RolloutFiles) => T): Promise<T>;

  /** An entry of the feed's ledger, by its number; returns the first one stored, which may be another's. */
  putFeedEntry(entry: FeedEntry): Promise<Stored<FeedEntry>>;
  getFeedEntry(number: number): Promise<Stored<FeedEntry> | undefined>;
  /** The number of the last entry; 0 without any. */
  countFeedEntries(): Promise<number>;

  /** The run's result, written by the collection: result.json. Removes what killed workers left of ended rollouts. */
  putResult(result: object): Promise<Stored<object>>;
  getResult(): Promise<Stored<object> | undefined>;
}
