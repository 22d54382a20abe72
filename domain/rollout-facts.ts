// The small JSON facts that pass between a rollout's workflow and its activities.

import type { Limits, RolloutResult } from './ending.ts';
import type { TrajectoryReference } from './ids.ts';
import type { Task } from './query.ts';
import type { RewardSettings } from './reward.ts';
import type { TurnFacts } from './turn.ts';
import type { Verdict } from './verdict.ts';

/** The rollout as its first step fixed it. */
export interface OpenedRollout {
  readonly rollout: TrajectoryReference;
  readonly limits: Limits;
  readonly reward: RewardSettings;
  /** The query's first words, safe to show. */
  readonly title: string;
  /** Decides which workers judge; absent in histories from before code was judged on a queue of its own. */
  readonly task?: Task;
  /** SHA-256 of the records it stands on; absent in histories from before they were sent. */
  readonly records?: { readonly run: string | null; readonly rollout: string };
  /** Its result, if its folder holds an end already; absent in histories from before this was read. */
  readonly ended?: RolloutResult;
}

/** `noRoom`: the turn cannot fit into the model's context, and nothing was generated. */
export type Generated =
  { readonly noRoom: true; readonly contextTokens: number } | ({ readonly noRoom: false } & GeneratedTurn);

/** The facts of a turn that is not judged yet. */
export interface GeneratedTurn extends Omit<TurnFacts, 'verdict' | 'reason'> {
  /** SHA-256 of the turn's record; absent in histories from before it was sent. */
  readonly hash?: string;
}

export interface TurnReference {
  readonly rollout: TrajectoryReference;
  /** 1-based. */
  readonly turn: number;
}

export interface FailureFacts {
  /** Stable machine name. */
  readonly reason: string;
  readonly message: string;
}

export function turnFacts(generated: GeneratedTurn, { verdict, reason }: Verdict): TurnFacts {
  const { turn, outputTokens, contextTokens, finish, versionStart, versionEnd } = generated;
  return { turn, outputTokens, contextTokens, finish, versionStart, versionEnd, verdict, reason };
}
