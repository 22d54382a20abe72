// The small JSON facts that pass between a rollout's workflow and its activities.

import type { Limits } from './limits.ts';
import type { Task } from './query.ts';
import { type Boundary, boundaryOfReason, isBoundary } from './reasons.ts';
import type { RewardSettings } from './reward.ts';
import type { RolloutResult, TrajectoryReference } from './rollout-result.ts';
import type { Finish, TurnFacts } from './turn.ts';
import type { VerdictValue } from './verdict.ts';

/** What the first step fixed. */
export interface OpenedRollout {
  readonly rollout: TrajectoryReference;
  readonly limits: Limits;
  readonly reward: RewardSettings;
  /** The query's first words, safe to show. */
  readonly title: string;
  /** Who judges; absent in histories from before code was judged on a queue of its own. */
  readonly task?: Task;
  /** SHA-256 of the records it stands on; absent in histories from before they were told. */
  readonly records?: { readonly run: string | null; readonly rollout: string };
  /** How it ended, where its folder keeps that from before; absent in histories from before this was looked at. */
  readonly ended?: RolloutResult;
}

/** `noRoom`: the turn cannot fit into the model's context, and nothing was generated. */
export type Generated =
  { readonly noRoom: true; readonly contextTokens: number } | ({ readonly noRoom: false } & GeneratedTurn);

export interface GeneratedTurn {
  readonly turn: number;
  readonly outputTokens: number;
  readonly contextTokens: number;
  readonly finish: Finish;
  readonly versionStart: number;
  readonly versionEnd: number;
  /** SHA-256 of the turn's record; absent in histories from before it was told. */
  readonly hash?: string;
}

export interface Judged {
  readonly verdict: VerdictValue;
  readonly reason: string;
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

export function turnFacts(generated: GeneratedTurn, judged: Judged): TurnFacts {
  const { turn, outputTokens, contextTokens, finish, versionStart, versionEnd } = generated;
  return {
    turn,
    outputTokens,
    contextTokens,
    finish,
    versionStart,
    versionEnd,
    verdict: judged.verdict,
    reason: judged.reason,
  };
}
