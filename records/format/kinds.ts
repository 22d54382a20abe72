// The kinds of records, a row each: its fields, from which its type, its form and the order of its text follow, and its file.
// A new kind is a row here and a line of `Records`.

import {
  AGENT_ENTRY,
  type AgentEntry,
  ASKED,
  type AskedRecord,
  SIDE,
  type SideRecord,
} from '../../domain/agent/index.ts';
import { FEED_ENTRY, type FeedEntry } from '../../domain/feed/entry.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { type CollectionResult, RESULT } from '../../domain/run/messages.ts';
import { ACT_FIELDS, actName, type SteeringAct } from '../../domain/run/steering.ts';
import { SAY, type SayRecord } from '../../domain/rollout/lineage.ts';
import {
  END,
  type EndRecord,
  ROLLOUT,
  type RolloutRecord,
  VERDICT,
  type VerdictRecord,
} from '../../domain/rollout/trajectory.ts';
import { CHUNK, type ChunkRecord, TURN, type TurnRecord } from '../../domain/rollout/turn.ts';
import type { FieldTable } from '../../domain/schema/fields.ts';
import { CALL, type CallRecord, INTENT, type IntentRecord } from '../../domain/tools/tool.ts';
import { type DeclaredWeights, WEIGHTS_ENTRY } from '../../domain/weights/weights.ts';
import { feedFile, RESULT_FILE, RUN_FILE, steeringFile, weightsFile } from './layout.ts';
import { RUN, type RunRecord } from './run-record.ts';

export interface Records {
  run: RunRecord;
  /** The run's result, written by the collection. */
  result: CollectionResult;
  /** An entry of the feed's ledger. */
  feed: FeedEntry;
  weights: DeclaredWeights;
  /** A person's act. */
  steering: SteeringAct;
  rollout: RolloutRecord;
  /** A person's message before a turn. */
  say: SayRecord;
  /** A call of an agent's program, before the model is asked. */
  asked: AskedRecord;
  /** A part of an unfinished answer. */
  chunk: ChunkRecord;
  turn: TurnRecord;
  /** A call of a tool that must not be called twice, before it is called. */
  intent: IntentRecord;
  /** The result of a call of a tool. */
  call: CallRecord;
  verdict: VerdictRecord;
  /** A reply of a model beside the run's own. */
  side: SideRecord;
  /** An entry of the log of an agent's attempts. */
  agent: AgentEntry;
  end: EndRecord;
}
export type RecordKind = keyof Records;

/** The records of the run itself: where one stands follows from what names it. */
const OF_RUN = {
  run: { fields: () => RUN, nameOf: (): [] => [], path: () => RUN_FILE },
  result: { fields: () => RESULT, nameOf: (): [] => [], path: () => RESULT_FILE },
  feed: {
    fields: ({ kind }: Unread) => own(FEED_ENTRY, kind),
    nameOf: ({ number }: FeedEntry): [number: number] => [number],
    path: feedFile,
  },
  weights: {
    fields: () => WEIGHTS_ENTRY,
    nameOf: ({ number }: DeclaredWeights): [number: number] => [number],
    path: weightsFile,
  },
  steering: {
    fields: ({ act }: Unread) => own(ACT_FIELDS, act),
    nameOf: (act: SteeringAct): [name: string] => [actName(act)],
    path: steeringFile,
  },
};

/**
 * The records of a rollout, in their order: those of a turn by its number, an agent's and the end behind all turns. In a file's
 * name each `#` is one of the record's numbers, which begin at 1, or at `from`.
 */
export const OF_ROLLOUT = {
  rollout: { fields: ROLLOUT, file: 'rollout', numbers: [] },
  say: { fields: SAY, file: 'say-#', numbers: ['turn'], from: 2 },
  /** Both are redundant once the turn is stored. */
  asked: { fields: ASKED, file: 'turn-#.asked', numbers: ['turn'] },
  chunk: { fields: CHUNK, file: 'turn-#.chunk-#', numbers: ['turn', 'chunk'] },
  turn: { fields: TURN, file: 'turn-#', numbers: ['turn'] },
  intent: { fields: INTENT, file: 'intent-#.#', numbers: ['turn', 'call'] },
  call: { fields: CALL, file: 'call-#.#', numbers: ['turn', 'call'] },
  verdict: { fields: VERDICT, file: 'verdict-#', numbers: ['turn'] },
  side: { fields: SIDE, file: 'side-#', numbers: ['entry'] },
  agent: { fields: AGENT_ENTRY, file: 'agent-#', numbers: ['entry'] },
  end: { fields: END, file: 'end', numbers: [] },
} as const;

/** The fields that say which act or entry a record is. */
interface Unread {
  readonly act?: unknown;
  readonly kind?: unknown;
}

export type RunKind = keyof typeof OF_RUN;
export type RolloutKind = keyof typeof OF_ROLLOUT;
export const isOfRollout = (kind: RecordKind): kind is RolloutKind => Object.hasOwn(OF_ROLLOUT, kind);

type OneEach<N extends readonly unknown[]> = { [I in keyof N]: number };
export type NumbersOf<K extends RolloutKind> = OneEach<(typeof OF_ROLLOUT)[K]['numbers']>;
/** What names one record of a kind: its rollout and its numbers in it, or its name in the run. */
export type NameOf<K extends RecordKind> = K extends RolloutKind
  ? [id: RolloutId, ...numbers: NumbersOf<K>]
  : K extends RunKind
    ? ReturnType<(typeof OF_RUN)[K]['nameOf']>
    : never;
/** The rollout of a record; null for one of the run itself. */
export type OwnerOf<K extends RecordKind> = K extends RolloutKind ? RolloutId : null;

export const formatOf = (kind: RecordKind): string => `everturn-${kind}/1`;

export function kindOf(format: unknown): RecordKind | undefined {
  const name = typeof format === 'string' ? /^everturn-([a-z]+)\/1$/.exec(format)?.[1] : undefined;
  return name !== undefined && (Object.hasOwn(OF_ROLLOUT, name) || Object.hasOwn(OF_RUN, name))
    ? (name as RecordKind)
    : undefined;
}

export const tableOf = (kind: RecordKind, record: object): FieldTable | undefined =>
  isOfRollout(kind) ? OF_ROLLOUT[kind].fields : OF_RUN[kind as RunKind].fields(record);

const own = (tables: Readonly<Record<string, FieldTable>>, name: unknown): FieldTable | undefined =>
  typeof name === 'string' && Object.hasOwn(tables, name) ? tables[name] : undefined;

/** The path of one of the run's own records in its folder. */
export const pathOf = (kind: RunKind, name: readonly unknown[]): string =>
  (OF_RUN[kind].path as (...name: readonly unknown[]) => string)(...name);

export const pathOfRecord = (kind: RunKind, record: object): string =>
  pathOf(kind, (OF_RUN[kind].nameOf as (record: object) => readonly unknown[])(record));
