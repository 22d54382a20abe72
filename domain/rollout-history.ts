// A rollout as Temporal's own history has it: a second source against which its records are checked.

import type { Generated, OpenedRollout } from './rollout-facts.ts';
import type { Verdict } from './verdict.ts';
import type { RolloutResult } from './ending.ts';
import type { TrajectoryReference } from './ids.ts';

/** One turn as its history has it. */
export interface TurnHistory {
  /** 1-based. */
  readonly turn: number;
  /** How often it was scheduled, retries not counted. */
  readonly asked: number;
  /** Tries of the last scheduling, the last one counted. */
  readonly tries: number;
  /** Absent while it is being generated, or where that failed. */
  readonly generated?: Generated;
  /** Absent while it is being judged, or where that failed. */
  readonly judged?: Verdict;
}

/** One execution of a rollout's workflow. */
export interface RolloutHistory {
  readonly workflowId: string;
  /** `running`, `completed`, `cancelled`, or another way to close. */
  readonly state: string;
  /** The folder of runs that it was started with; null where its input says none. */
  readonly out: string | null;
  /** Absent until its first step has fixed the query. */
  readonly rollout?: TrajectoryReference;
  /** SHA-256 of the records that its first step wrote or found. */
  readonly records?: OpenedRollout['records'];
  /** In the order in which they were first asked for. */
  readonly turns: readonly TurnHistory[];
  /** Of a completed one. */
  readonly result?: RolloutResult;
}
