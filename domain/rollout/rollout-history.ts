// A rollout in Temporal's own event history: a second source, with which its records are compared.

import type { Generated, OpenedRollout } from './rollout-facts.ts';
import type { Verdict } from './verdict.ts';
import type { RolloutResult } from './ending.ts';
import type { TrajectoryReference } from '../run/ids.ts';

/** One turn in the history. */
export interface TurnHistory {
  /** 1-based. */
  readonly turn: number;
  /** The number of times it was scheduled, without retries. */
  readonly asked: number;
  /** Attempts of the last scheduling, the last one included. */
  readonly tries: number;
  /** Absent during the generation, or if it failed. */
  readonly generated?: Generated;
  /** Absent during the evaluation, or if it failed. */
  readonly judged?: Verdict;
}

/** One execution of a rollout's workflow. */
export interface RolloutHistory {
  readonly workflowId: string;
  /** `running`, `completed`, `cancelled`, or another way to close. */
  readonly state: string;
  /** The folder of runs in its input; null if there is none. */
  readonly out: string | null;
  /** Absent until its first step has fixed the query. */
  readonly rollout?: TrajectoryReference;
  /** SHA-256 of the records that its first step wrote or found. */
  readonly records?: OpenedRollout['records'];
  /** In the order of their first scheduling. */
  readonly turns: readonly TurnHistory[];
  /** Of a completed one. */
  readonly result?: RolloutResult;
}
