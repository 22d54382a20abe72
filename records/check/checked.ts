// The types that the parts of a check share: the records of one rollout, and the facts that they are proved with.

import type { AgentEnd, AgentEntry } from '../../domain/agent/index.ts';
import type { CallTexts } from '../../domain/rollout/calls.ts';
import type { ContextTokenizer } from '../../domain/context/new-context.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { SayRecord } from '../../domain/rollout/lineage.ts';
import type { CallRecord, IntentRecord } from '../../domain/tools/tool.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { Stored } from '../store.ts';
import { flawIn } from '../../domain/schema/fields.ts';
import { type RecordKind, tableOf } from '../format/kinds.ts';
import { hashOfParsed, type Owner } from '../format/text.ts';
import type { RolloutFile } from '../format/rollout-file.ts';

/** The readable records of a rollout; all others have been reported. */
export interface CheckedRollout {
  readonly id: RolloutId;
  readonly rollout: RolloutRecord;
  /** SHA-256 of that record. */
  readonly hash: string;
  /** Index t − 1; undefined if the record is missing or broken. */
  readonly turns: readonly (Stored<TurnRecord> | undefined)[];
  readonly verdicts: readonly (VerdictRecord | undefined)[];
  readonly end: EndRecord | undefined;
  /** The end of an agent's program. */
  readonly agent: AgentEnd | undefined;
  /** The entries of the log of its attempts, in their order. */
  readonly attempts: readonly AgentEntry[];
  /** The records of the other kinds, by file. */
  readonly chunks: ReadonlyMap<string, Stored<ChunkRecord>>;
  readonly messages: ReadonlyMap<string, Stored<SayRecord>>;
  readonly calls: ReadonlyMap<string, Stored<CallRecord>>;
  readonly intents: ReadonlyMap<string, Stored<IntentRecord>>;
  /** All of its files but foreign ones, broken ones too. */
  readonly files: readonly (RolloutFile & { readonly name: string })[];
}

/** The tokenizer of a run's model. */
export interface CheckTokenizer extends ContextTokenizer {
  /** Its path, for messages. */
  readonly name: string;
  /** All ids that end an answer. */
  readonly stopTokenIds: readonly number[];
}

export interface ReplayFacts {
  readonly run?: RunRecord | undefined;
  readonly tokenizer?: CheckTokenizer | undefined;
  /** The formats of calls; undefined: replies are not read for calls again. */
  readonly calls?: CallTexts | undefined;
  /** The allowed difference between workers' clocks. */
  readonly clockSkewMs?: number | undefined;
}

/** A file of the rollout, and its fault. */
export type Problem = readonly [file: string, problem: string];

/** The fault of a record's fields; undefined if there is none. */
export function shapeProblem(kind: RecordKind, record: object): string | undefined {
  const { format: _, ...fields } = record as { readonly format?: string };
  const table = tableOf(kind, fields);
  return table ? flawIn(table, fields) : 'is of no kind that Everturn knows';
}

/** The fault of a record with a valid hash. */
export function formProblem(
  kind: RecordKind,
  owner: Owner | null,
  { record, hash }: Stored<object>,
): string | undefined {
  const flaw = shapeProblem(kind, record);
  if (flaw !== undefined) return flaw;
  if (hashOfParsed(kind, owner, record) === hash) return undefined;
  return 'is not the text that its content gives: a key stands in it twice, or a number, the order or the spacing is not ours';
}
