// The JSON messages of both workflows: arguments, results, progress and updates. Callable from any language;
// docs/temporal.md has the schemas.

import type { Order } from './blocks.ts';
import { type CollectionCounts, COUNTS } from './progress.ts';
import { BOOLEAN, COUNT, NAME, type ObjectOf, PLACE, type Test } from '../schema/fields.ts';
import type { CallCounts } from '../rollout/rollout-facts.ts';
import type { RolloutSettings } from '../rollout/settings.ts';
import type { TurnFacts } from '../rollout/turn-facts.ts';
import type { WindowState } from './window.ts';

export interface RolloutInput {
  /** The run's name: its folder is `<out>/<run>`. */
  readonly run: string;
  /** A folder that every worker reaches. */
  readonly out: string;
  /** 0-based place in the run's queries.jsonl … */
  readonly index?: number;
  /** … or a row as in a data set file, for a rollout by itself. */
  readonly row?: Readonly<Record<string, unknown>>;
  /** 0-based; default 0. */
  readonly sample?: number;
  /** 1-based; default 1. */
  readonly attempt?: number;
  /** Used if the run's folder has no run.json yet. A missing one takes its default. */
  readonly settings?: Partial<RolloutSettings>;
}

export interface RolloutProgress {
  /** Null until the first step has fixed the query. */
  readonly query: string | null;
  readonly phase: string;
  readonly paused: boolean;
  /** Those of an agent stand here when it has ended. */
  readonly turns: readonly TurnFacts[];
  /** Of an agent, since its first call; a few seconds old, or more of one that runs for hours. */
  readonly calls?: CallCounts;
}

/** The options of `--train`; each has the default of the command line. */
export interface TrainInput {
  readonly batchGroups?: number;
  readonly maxStaleness?: number;
  readonly minMembers?: number | null;
  readonly successRate?: readonly [number, number] | null;
  readonly dropZeroVariance?: boolean;
}

export interface CollectionInput {
  readonly run: string;
  readonly out: string;
  /** The data set file; needed if the run's folder does not hold the accepted queries yet. */
  readonly dataset?: string;
  readonly settings?: Partial<RolloutSettings>;
  /** Rollouts per query; default 1. */
  readonly samples?: number;
  /** How often the data set is played, each time with other samples; default 1. */
  readonly epochs?: number;
  /** A trainer lives on the run, through its feed: docs/feed.md. Absent: no trainer. */
  readonly train?: TrainInput;
  /** Rollouts in flight at once; default 16, at most 20,000. Above 1,000 they are played in blocks. */
  readonly maxConcurrent?: number;
  /** The rows of the data set that are played, at most. */
  readonly limit?: number;
  /** Plays the rows in a seeded random order. */
  readonly shuffleSeed?: number;
  /** History events after which it continues as new; for tests. Default 4,000. */
  readonly maxHistoryEvents?: number;
  /** Rollouts in flight of one workflow, at most; for tests. Default 1,000. */
  readonly maxWindow?: number;
  /** Filled by continue-as-new only. */
  readonly carried?: WindowState;
}

/** A part of a large run's units. Only its root starts one. */
export interface BlockInput extends Pick<CollectionInput, 'run' | 'out'> {
  readonly maxHistoryEvents?: number | undefined;
  readonly block: string;
  readonly order: Order;
  readonly window: WindowState;
}

export interface CollectionProgress {
  readonly run: string;
  readonly state: 'accepting' | 'running' | 'paused' | 'stopping' | 'ended';
  /** Rollouts of the whole run: queries × samples. */
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly maxConcurrent: number;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/**
 * The memo `progress` of a collection: its progress at the time `toldAt`, for clients that get no answer from a worker.
 * Written at start and end, on every update, and otherwise when as many rollouts have ended as are a sixteenth of `maxConcurrent`.
 */
export interface MemoProgress extends CollectionProgress {
  /** Epoch milliseconds. */
  readonly toldAt: number;
}

/** result.json, and the result of the workflow. */
export const RESULT = {
  run: NAME,
  total: COUNT,
  cancelled: BOOLEAN,
  numTurns: PLACE,
  counts: COUNTS as Test<CollectionCounts>,
};
export type CollectionResult = ObjectOf<typeof RESULT>;

/** As the server says it. */
export type WorkflowState = 'running' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed-out' | 'absent';

export interface Tuning {
  readonly maxConcurrent: number;
}
