// The small facts of a finished rollout: a workflow's result and a collection's raw material.

import type { Outcome, StopReason } from './outcome.ts';
import type { Boundary } from './reasons.ts';
import type { VerdictCounts } from './verdict.ts';

/** Where a trajectory's records are: enough to find them without Temporal. */
export interface TrajectoryReference {
  readonly out: string;
  readonly run: string;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

export interface RolloutResult {
  readonly outcome: Outcome;
  readonly stopReason: StopReason;
  /** Finished turns. */
  readonly turns: number;
  /** Discounted returns G_t, one per turn; empty unless the outcome is `complete`. */
  readonly rewards: readonly number[];
  /** 1 right, 0 wrong, null not judged; one per finished turn. */
  readonly success: readonly (0 | 1 | null)[];
  /** The turns that were judged, by verdict and reason; absent in histories from before they were counted. */
  readonly verdicts?: VerdictCounts;
  /** Output tokens of all turns. */
  readonly tokens: number;
  /** Stable name of what failed; null unless the outcome is `failed` or `undecided`. */
  readonly reason: string | null;
  /** Where it failed; absent unless the outcome is `failed`, and in what was stored before this was. */
  readonly boundary?: Boundary;
  readonly trajectory: TrajectoryReference;
}
