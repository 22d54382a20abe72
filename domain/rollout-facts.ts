// The small JSON facts that pass between a rollout's workflow and its activities.

import type { Limits, RolloutResult } from './ending.ts';
import type { TrajectoryReference } from './ids.ts';
import type { Task } from './query.ts';
import { type Boundary, boundaryOfReason, isBoundary } from './reasons.ts';
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
  /** Where it happened; absent in records and histories from before this was stored. */
  readonly boundary?: Boundary;
  /** Stable machine name. */
  readonly reason: string;
  readonly message: string;
}

/** What an ApplicationFailure carries beside its type, which is the reason. */
export interface FailureDetails {
  readonly boundary: Boundary;
}

/**
 * The boundary of a failure. Old histories have no details: the reason tells. What no list names, a TypeError say, is our
 * bug; so is a detail that cannot be read.
 */
export function boundaryOf(reason: string, detail: () => unknown): Boundary {
  try {
    const { boundary } = (detail() ?? {}) as Partial<FailureDetails>;
    if (isBoundary(boundary)) return boundary;
  } catch {
    // Written by another payload converter: the reason tells.
  }
  return boundaryOfReason(reason) ?? 'everturn';
}

export function turnFacts(generated: GeneratedTurn, { verdict, reason }: Verdict): TurnFacts {
  const { turn, outputTokens, contextTokens, finish, versionStart, versionEnd } = generated;
  return { turn, outputTokens, contextTokens, finish, versionStart, versionEnd, verdict, reason };
}
